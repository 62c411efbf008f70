//! Where the leaderboard is, and whose attempts these are. Pure: what must be asked of the machine
//! is passed in.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What decides, strongest first.
pub struct Clues<'a> {
    /// `--leaderboard`
    pub option: Option<&'a Path>,
    /// `NIBBLE_LEADERBOARD`
    pub variable: Option<&'a OsStr>,
    /// Where the command was given.
    pub directory: &'a Path,
    /// `XDG_DATA_HOME`
    pub data_home: Option<&'a OsStr>,
    /// `HOME`
    pub home: Option<&'a OsStr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Option,
    Variable,
    /// A folder named `leaderboard`, here or above.
    Nearest,
    DataFolder,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no home folder to keep a leaderboard in; name one with --leaderboard DIR")]
pub struct Nowhere;

/// `is_leaderboard` looks at the disk; see [`is_leaderboard`].
pub fn locate(
    clues: &Clues<'_>,
    is_leaderboard: impl Fn(&Path) -> bool,
) -> Result<Located, Nowhere> {
    let found = |path: PathBuf, how| Ok(Located { path, how });
    let set = |value: Option<&OsStr>| value.filter(|text| !text.is_empty()).map(PathBuf::from);
    if let Some(path) = clues.option {
        return found(clues.directory.join(path), How::Option);
    }
    if let Some(path) = set(clues.variable) {
        return found(clues.directory.join(path), How::Variable);
    }
    let above = clues.directory.ancestors().map(|folder| folder.join("leaderboard"));
    if let Some(path) = above.into_iter().find(|path| is_leaderboard(path)) {
        return found(path, How::Nearest);
    }
    // The XDG specification: a relative path is to be ignored.
    let data = set(clues.data_home)
        .filter(|path| path.is_absolute())
        .or_else(|| set(clues.home).map(|home| home.join(".local/share")))
        .ok_or(Nowhere)?;
    found(data.join("nibble/leaderboard"), How::DataFolder)
}

/// A folder is a leaderboard if it holds `attempts/`. Any project may have a folder of that name.
pub fn is_leaderboard(folder: &Path) -> bool {
    folder.join("attempts").is_dir()
}

/// `--author`, else git's `user.name`, else the login. Never empty, and on one line.
pub fn author(option: Option<&str>, git_name: Option<&str>, login: Option<&str>) -> String {
    [option, git_name, login]
        .into_iter()
        .flatten()
        .map(|name| {
            let printable = name.replace(char::is_control, " ");
            printable.split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| "anonymous".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clues() -> Clues<'static> {
        Clues {
            option: None,
            variable: None,
            directory: Path::new("/home/ana/repo/kernels"),
            data_home: None,
            home: Some(OsStr::new("/home/ada")),
        }
    }

    fn path(clues: &Clues<'_>, existing: &[&str]) -> (String, How) {
        let found =
            locate(clues, |path| existing.iter().any(|one| Path::new(one) == path)).unwrap();
        (found.path.to_str().unwrap().to_owned(), found.how)
    }

    #[test]
    fn the_strongest_clue_wins() {
        let existing = ["/home/ana/leaderboard", "/home/ana/repo/leaderboard"];
        let mut clues = clues();
        clues.option = Some(Path::new("mine"));
        clues.variable = Some(OsStr::new("/elsewhere"));
        assert_eq!(path(&clues, &existing), ("/home/ana/repo/kernels/mine".into(), How::Option));
        clues.option = None;
        assert_eq!(path(&clues, &existing), ("/elsewhere".into(), How::Variable));
        clues.variable = Some(OsStr::new(""));
        assert_eq!(path(&clues, &existing), ("/home/ana/repo/leaderboard".into(), How::Nearest));
        clues.directory = Path::new("/home/ana/repo/leaderboard");
        assert_eq!(path(&clues, &existing), ("/home/ana/repo/leaderboard".into(), How::Nearest));
        let data = "/home/ada/.local/share/nibble/leaderboard";
        assert_eq!(path(&clues, &[]), (data.into(), How::DataFolder));
        clues.data_home = Some(OsStr::new("relative"));
        assert_eq!(path(&clues, &[]), (data.into(), How::DataFolder));
        clues.data_home = Some(OsStr::new("/data"));
        assert_eq!(path(&clues, &[]), ("/data/nibble/leaderboard".into(), How::DataFolder));
        clues.data_home = None;
        clues.home = None;
        assert_eq!(locate(&clues, |_| false), Err(Nowhere));
    }

    #[test]
    fn an_author_is_never_nobody() {
        assert_eq!(author(Some("Ada"), Some("Bob"), Some("cyd")), "Ada");
        assert_eq!(author(Some("  "), Some("Bob\nB.\u{1b}"), Some("cyd")), "Bob B.");
        assert_eq!(author(None, None, Some("cyd")), "cyd");
        assert_eq!(author(None, Some(""), None), "anonymous");
    }
}
