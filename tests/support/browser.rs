//! Headless Chromium, by its command line: pages are visited in frames as wide as a phone's screen
//! or a desk's, by one page that writes what it saw into itself.

use std::{fs, path::Path, process::Command};

/// What a page looked like in a frame.
#[derive(Debug)]
pub struct Look {
    pub page: String,
    pub width: u32,
    /// Wider than its frame by so many pixels.
    pub overflow: i64,
    /// The page's background: "rgb(255, 255, 255)".
    pub ground: String,
    /// Labels of a picture that cover each other, each pair as "a | b".
    pub collisions: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Dark = 0,
    Light = 1,
}

/// Visits every page in frames of every width. `root` may be written to; `pages` are relative to
/// it. Absent where there is no browser. The second value holds what was said on the console.
pub fn visit(
    root: &Path,
    pages: &[String],
    widths: &[u32],
    scheme: Scheme,
) -> Option<(Vec<Look>, Vec<String>)> {
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    })?;
    let probe = root.join("probe.html");
    let list = serde_json::to_string(&(pages, widths)).expect("JSON");
    fs::write(&probe, include_str!("probe.html").replace("[[], []]", &list)).expect("a file");
    let profile = tempfile::tempdir().expect("a folder");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=600000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", scheme as u8))
        .arg(format!("file://{}", probe.display()))
        .output()
        .expect("the browser starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let console = stderr.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned);
    let dom = String::from_utf8_lossy(&output.stdout);
    let looks = dom.split("<li>").skip(1).filter_map(|item| look(item.split("</li>").next()?));
    Some((looks.collect(), console.collect()))
}

fn look(item: &str) -> Option<Look> {
    let mut fields = item.split('\t');
    Some(Look {
        page: fields.next()?.to_owned(),
        width: fields.next()?.parse().ok()?,
        overflow: fields.next()?.parse().ok()?,
        ground: fields.next()?.to_owned(),
        collisions: fields.next()?.to_owned(),
    })
}
