//! Judge and worker against solutions that crash, hang, cheat and lie, each with the verdict it
//! must get. They are host code, compiled with g++: neither nvcc nor a device is needed.
//!
//! This executable is also the worker, as `nibble` is: hence its own `main`.

#[path = "judge/court.rs"]
mod court;
#[path = "judge/honest.rs"]
mod honest;
#[path = "judge/hostile.rs"]
mod hostile;
#[path = "judge/null_driver.rs"]
mod null_driver;
#[path = "judge/processes.rs"]
mod processes;
#[path = "judge/scripted.rs"]
mod scripted;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(judge::worker::VERB) => return judge::worker_main(),
        Some(judge::emulated::VERB) => return judge::device_main(),
        Some(processes::DOOMED) => {
            processes::doomed();
            return ExitCode::FAILURE;
        }
        Some(null_driver::DESCRIBE) => {
            use std::io::Write as _;
            let _ = std::io::stdout().write_all(null_driver::describe().as_bytes());
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let driver = tempfile::tempdir().expect("a temporary folder");
    // SAFETY: the first thing that happens here.
    unsafe { null_driver::install(driver.path()) };
    let tests =
        [null_driver::TESTS, honest::TESTS, hostile::TESTS, processes::TESTS, scripted::TESTS]
            .concat();
    let trials = tests.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
