//! Whose turn it is to time on a GPU.
//!
//! Two timed runs that meet on one card measure each other. So whoever times holds a lock that is
//! named after the card: `flock` on an empty file, which the kernel lets go of with the process that
//! holds it, however that ends. It is held while times are taken and at no other moment: compiling
//! and checking go on beside it.
//!
//! The file must be one for all users of the machine, and nobody may need the rights of whoever made
//! it: `flock` asks for no right to write, so it is made once, empty, and opened for reading ever
//! after. (Opening with `O_CREAT` what another user owns is refused in `/tmp`: proc(5),
//! `fs.protected_regular`.)

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Interrupt};

/// The right to time on one GPU, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    #[expect(dead_code, reason = "closing the file ends the turn")]
    lock: File,
    /// How long it took to get it.
    pub waited: Duration,
}

/// Between two looks whether the lock is free.
const SHORTEST: Duration = Duration::from_micros(200);
const LONGEST: Duration = Duration::from_millis(20);

impl Turn {
    /// Waits for the turn on the GPU of that UUID; `None` when interrupted. `waits` is called once,
    /// if somebody else has it.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] where there is no place for the lock.
    pub fn take(
        uuid: &str,
        interrupt: &Interrupt,
        waits: &mut dyn FnMut(),
    ) -> Result<Option<Self>, Error> {
        let started = Instant::now();
        let path = folder().join(file_name(uuid));
        let failed = |error: io::Error| {
            Error::machine(
                format!("no lock for the GPU in {}: {error}", path.display()),
                "make the folder writable for you",
            )
        };
        let lock = open(&path).map_err(failed)?;
        let mut pause = SHORTEST;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(Self { lock, waited: started.elapsed() })),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if interrupt.raised() => return Ok(None),
                Err(TryLockError::WouldBlock) => {}
            }
            if pause == SHORTEST {
                waits();
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// A folder in which all users of the machine may make files and none may remove another's.
fn folder() -> PathBuf {
    let shared = Path::new("/run/lock");
    match shared.is_dir() && rustix::fs::access(shared, rustix::fs::Access::WRITE_OK).is_ok() {
        true => shared.to_owned(),
        false => PathBuf::from("/tmp"),
    }
}

/// Characters of a UUID only, whatever a script calls its card.
fn file_name(uuid: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("nibble-{}.lock", uuid.chars().take(64).map(plain).collect::<String>())
}

fn open(path: &Path) -> io::Result<File> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let existing = || OpenOptions::new().read(true).custom_flags(no_link).open(path);
    match existing() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let new = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path);
            match new {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing(),
                new => new,
            }
        }
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuid(test: &str) -> String {
        format!("GPU-test-{test}-{}", std::process::id())
    }

    #[test]
    fn one_has_it_and_the_next_waits() {
        let uuid = uuid("waits");
        let stop = Interrupt::default();
        let first = Turn::take(&uuid, &stop, &mut || panic!("nobody has it")).unwrap().unwrap();
        let (sender, waiting) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                Turn::take(&uuid, &stop, &mut || sender.send(()).unwrap()).unwrap().unwrap()
            });
            waiting.recv().unwrap();
            drop(first);
            let second = second.join().unwrap();
            assert!(second.waited > Duration::ZERO);
        });
    }

    #[test]
    fn whoever_waits_can_be_interrupted() {
        let uuid = uuid("interrupted");
        let stop = Interrupt::default();
        let _first = Turn::take(&uuid, &stop, &mut || ()).unwrap().unwrap();
        let second = Turn::take(&uuid, &stop, &mut || stop.raise()).unwrap();
        assert!(second.is_none());
    }

    /// Where another process finds the UUID and the folder, or that it is to hold on.
    const VARIABLE: &str = "NIBBLE_TEST_TURNS";
    const SECTIONS: usize = 5_000;

    /// Not a test by itself: what another process runs. Says so when it has had its turns.
    #[expect(clippy::print_stdout, reason = "the only way to tell the test that started it")]
    #[test]
    fn another_process() {
        let Ok(order) = std::env::var(VARIABLE) else { return };
        let (uuid, marker) = order.split_once(' ').unwrap();
        if marker == "hold" {
            let _turn = Turn::take(uuid, &Interrupt::default(), &mut || ()).unwrap();
            println!("held");
            thread::sleep(Duration::from_secs(600));
        }
        sections(uuid, Path::new(marker));
        println!("done");
    }

    fn sections(uuid: &str, marker: &Path) {
        for _ in 0..SECTIONS {
            let turn = Turn::take(uuid, &Interrupt::default(), &mut || ()).unwrap();
            File::create_new(marker).expect("nobody else is in a section");
            std::fs::remove_file(marker).unwrap();
            drop(turn);
        }
    }

    fn start(order: &str) -> std::process::Child {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "card::turn::tests::another_process", "--nocapture"])
            .env(VARIABLE, order)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    #[test]
    fn two_processes_are_never_in_a_section_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (uuid, marker) = (uuid("sections"), folder.path().join("marker"));
        let other = start(&format!("{uuid} {}", marker.display()));
        sections(&uuid, &marker);
        let output = other.wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("done"), "{output:?}");
    }

    #[test]
    fn the_turn_of_a_killed_process_is_free() {
        use std::io::{BufRead as _, BufReader};
        let uuid = uuid("killed");
        let mut other = start(&format!("{uuid} hold"));
        let lines = BufReader::new(other.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains("held")));
        other.kill().unwrap();
        other.wait().unwrap();
        let turn = Turn::take(&uuid, &Interrupt::default(), &mut || panic!("it is held")).unwrap();
        assert!(turn.is_some());
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(file_name("GPU-0a1b"), "nibble-GPU-0a1b.lock");
        assert_eq!(file_name("../a b"), "nibble-___a_b.lock");
    }
}
