//! Damaged, foreign and newer files: named, skipped, never fatal, never deleted.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use leaderboard::attempt::{Samples, Size, Time};
use leaderboard::{Attempt, Defect, Error, Finding, Flaw, FormatVersion, Store};
use proptest::prelude::*;

use crate::sample::{later, rejected, submission};

/// A leaderboard with two attempts; what is done to the first must not touch the second. Recorded
/// once and copied, since recording waits for the disk.
fn two() -> (tempfile::TempDir, Store, Attempt, Attempt) {
    static ORIGINAL: LazyLock<(tempfile::TempDir, Attempt, Attempt)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let first = store.record(submission()).unwrap();
        let mut other = rejected();
        other.created = later(1);
        let second = store.record(other).unwrap();
        (folder, first, second)
    });
    let (original, first, second) = &*ORIGINAL;
    let folder = tempfile::tempdir().unwrap();
    copy(original.path(), folder.path());
    let store = Store::at(folder.path());
    (folder, store, first.clone(), second.clone())
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn flaws(store: &Store) -> Vec<Flaw> {
    store.verify().unwrap().findings.into_iter().map(|finding| finding.flaw).collect()
}

fn rewrite(file: &Path, change: impl FnOnce(String) -> String) {
    fs::write(file, change(fs::read_to_string(file).unwrap())).unwrap();
}

#[test]
fn a_newer_attempt_is_named_and_skipped() {
    let (_folder, store, first, second) = two();
    let file = store.folder(&first.id).unwrap().join("attempt.toml");
    rewrite(&file, |text| text.replace("format = 2", "format = 3\nmood = \"good\""));
    let newer = Defect::Newer(FormatVersion(3));

    let read = store.read(None).unwrap();
    assert_eq!(read.attempts.len(), 1);
    assert_eq!(read.attempts[0].id, second.id);
    assert_eq!(read.unreadable.len(), 1);
    assert_eq!(read.unreadable[0].defect, newer);
    assert_eq!(
        newer.to_string(),
        "written by a newer nibble (format 3, this one reads 2); update nibble"
    );
    assert!(matches!(store.attempt(&first.id), Err(Error::Unreadable { .. })));
    assert_eq!(flaws(&store), [Flaw::Attempt(newer)]);
    assert_eq!(store.repair().unwrap().left.len(), 1);
    assert!(file.exists());

    // A newer file whose keys happen to be all known is newer nevertheless.
    rewrite(&file, |text| text.replace("mood = \"good\"\n", ""));
    assert_eq!(flaws(&store), [Flaw::Attempt(Defect::Newer(FormatVersion(3)))]);
}

#[test]
fn damage_says_what_and_where() {
    let (_folder, store, first, _) = two();
    let file = store.folder(&first.id).unwrap().join("attempt.toml");
    let good = fs::read_to_string(&file).unwrap();
    let of = |text: &str| {
        fs::write(&file, text).unwrap();
        store.read(None).unwrap().unreadable[0].defect.to_string()
    };
    let texts = [
        of(""),
        of(&good[..good.len() / 2]),
        of(&good.replace("revision = 2", "revision = -2")),
        of(&good.replace("revision = 2", "revision = 2\nmood = 1")),
        of(&good.replace("verdict = \"accepted\"", "verdict = \"splendid\"")),
        of(&good.replace("geomean_us = 20.0", "geomean_us = nan")),
        of(&good.replace("geomean_us = 20.0\n", "")),
        of(&good.replace("2026-08-12T14", "2026-08-12T25")),
        of(&good.replace("2026-08-12T14:30:15.123Z", "2026-08-12")),
        of(&good.replace("format = 2", "format = 0")),
        of(&good.replace(first.id.as_str(), "20260812-143015-zzzzzz")),
        of(&good.replace("\"mxfp4_quantize\"", "\"nvfp4_gemv\"")),
    ];
    insta::assert_snapshot!(texts.join("\n").replace(first.id.as_str(), "ID"));
    fs::write(&file, [0xff; 10]).unwrap();
    assert_eq!(
        store.read(None).unwrap().unreadable[0].defect.to_string(),
        "damaged: byte 0 is no UTF-8"
    );
    fs::remove_file(&file).unwrap();
    assert_eq!(
        store.read(None).unwrap().unreadable[0].defect.to_string(),
        "damaged: attempt.toml is missing"
    );
}

#[test]
fn verify_finds_everything_and_repair_mends_what_it_may() {
    let (_folder, store, first, second) = two();
    assert_eq!(flaws(&store), []);
    store.read(None).unwrap();
    assert_eq!(flaws(&store), []);

    let attempts = store.root().join("attempts");
    let one = store.folder(&first.id).unwrap();
    let two = store.folder(&second.id).unwrap();
    rewrite(&one.join("solution.cu"), |text| text + "// touched");
    rewrite(&one.join("samples.json"), |text| text.replace("\"format\":2", "\"format\":9"));
    fs::remove_file(two.join("solution.cu")).unwrap();
    fs::write(two.join("samples.json"), "[]").unwrap();
    fs::write(attempts.join("notes.txt"), "").unwrap();
    fs::create_dir(attempts.join("mxfp4_quantize/backup")).unwrap();
    fs::create_dir(attempts.join(".incoming/0123")).unwrap();
    fs::write(attempts.join(".incoming/0123/attempt.toml"), "format = ").unwrap();
    fs::write(attempts.join(".index/mxfp4_quantize.jsonl"), "{}").unwrap();

    let verified = store.verify().unwrap();
    assert_eq!(verified.attempts, 2);
    let listed: Vec<String> = verified
        .findings
        .iter()
        .map(|Finding { path, flaw }| {
            let path = path.strip_prefix(&attempts).unwrap().display().to_string();
            let path =
                path.replace(first.id.as_str(), "FIRST").replace(second.id.as_str(), "SECOND");
            format!("{path}: {flaw}{}", if flaw.mendable() { " (mendable)" } else { "" })
        })
        .collect();
    insta::assert_snapshot!(listed.join("\n"));

    let repair = store.repair().unwrap();
    assert!(repair.mended.iter().all(|finding| finding.flaw.mendable()));
    assert_eq!(repair.mended.len(), 2);
    assert_eq!(repair.left.len(), verified.findings.len() - 2);
    assert!(repair.left.iter().all(|finding| !finding.flaw.mendable()));
    assert_eq!(store.repair().unwrap().mended, []);
    assert_eq!(store.read(None).unwrap().attempts.len(), 2);
}

/// A disk that rots changes bytes and leaves the file's time as it was. Boards are fooled by the
/// index then; verify is not.
#[test]
fn rot_behind_the_indexs_back_is_found() {
    let (_folder, store, first, _) = two();
    store.read(None).unwrap();
    let file = store.folder(&first.id).unwrap().join("attempt.toml");
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    for (rotten, count) in [("author = \"Adb\"", 1), ("author = \"Ada ", 2)] {
        let good = fs::read_to_string(&file).unwrap();
        fs::write(&file, good.replace("author = \"Ada\"", rotten)).unwrap();
        fs::File::options().append(true).open(&file).unwrap().set_modified(modified).unwrap();
        let flaws = flaws(&store);
        assert_eq!(flaws.len(), count, "{flaws:?}");
        assert!(matches!(flaws[0], Flaw::Index(_)), "{flaws:?}");
        fs::write(&file, good).unwrap();
        fs::File::options().append(true).open(&file).unwrap().set_modified(modified).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Whatever happens to one attempt's files: nothing panics, the other attempt is read, and the
    /// damaged one is either as it was, named as damaged, or (where a letter of a name changed)
    /// read as what it now says.
    #[test]
    fn no_damage_is_fatal(
        file in prop::sample::select(vec!["attempt.toml", "samples.json", "solution.cu"]),
        cut in prop::option::of(0.0..1.0f64),
        flips in prop::collection::vec((0.0..1.0f64, any::<u8>()), 0..4),
        warm in any::<bool>(),
    ) {
        let (_folder, store, first, second) = two();
        if warm {
            store.read(None).unwrap();
        }
        let path = store.folder(&first.id).unwrap().join(file);
        let mut bytes = fs::read(&path).unwrap();
        if let Some(cut) = cut {
            bytes.truncate((cut * bytes.len() as f64) as usize);
        }
        for (at, mask) in flips {
            let at = (at * bytes.len() as f64) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= mask;
            }
        }
        fs::write(&path, bytes).unwrap();

        let read = store.read(None).unwrap();
        prop_assert_eq!(read.attempts.len() + read.unreadable.len(), 2);
        prop_assert!(read.attempts.iter().any(|attempt| attempt.id == second.id));
        let _ = (store.attempt(&first.id), store.samples(&first.id), store.source(&first.id));
        store.verify().unwrap();
        store.repair().unwrap();
        prop_assert!(path.exists());
    }

    #[test]
    fn no_index_is_fatal(
        cut in prop::option::of(0.0..1.0f64),
        flips in prop::collection::vec((0.0..1.0f64, 1..=255u8), 0..4),
    ) {
        let (_folder, store, ..) = two();
        let truth = store.read(None).unwrap().attempts;
        let path = store.root().join("attempts/.index/mxfp4_quantize.jsonl");
        let mut bytes = fs::read(&path).unwrap();
        if let Some(cut) = cut {
            bytes.truncate((cut * bytes.len() as f64) as usize);
        }
        for (at, mask) in flips {
            let at = (at * bytes.len() as f64) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= mask;
            }
        }
        fs::write(&path, bytes).unwrap();
        prop_assert_eq!(store.read(None).unwrap().attempts, truth);
    }
}

/// Who edits a time must edit all that hangs on it, and is not faster than light.
#[test]
fn an_edited_time_contradicts_the_rest() {
    let edited = |us: f64, change: fn(&mut Size), geomean: f64| {
        let mut submission = submission();
        let size = &mut submission.outcome.sizes[0];
        size.median = Time::exact(us);
        change(size);
        submission.outcome.geomean = Some(Time::exact(geomean));
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.record(submission).unwrap();
        flaws(&store).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(edited(10.0, |_| {}, 20.0), "");
    assert!(edited(10.0, |_| {}, 2.0).contains("a mean of 2 us"));
    assert!(edited(1.6, |_| {}, 8.0).contains("50 % of the speed of light"));
    let percent = |size: &mut Size| size.sol_percent = 100.0 * size.sol_us / size.median.us;
    assert!(edited(1.6, percent, 8.0).contains("where the speed of light takes 5 us"));
    // A modelled time has no samples that it could lie outside of.
    let measured = |modelled: bool, samples: Vec<Samples>| {
        let mut submission = submission();
        submission.outcome.modelled = modelled;
        submission.samples = samples;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.record(submission).unwrap();
        flaws(&store).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let of = |size: &str, us: [f64; 2]| Samples { size: size.into(), samples_us: us.to_vec() };
    let sizes = submission().outcome.sizes;
    let near: Vec<_> = sizes.iter().map(|one| of(&one.name, [one.median.us, 99.0])).collect();
    assert_eq!(measured(false, near.clone()), "");
    let mut far = near;
    far[0].samples_us = vec![98.0, 99.0];
    assert!(measured(false, far.clone()).contains("of samples from 98 us to 99 us"));
    assert!(measured(false, Vec::new()).contains("of no samples"));
    assert_eq!(measured(true, far), "");
}
