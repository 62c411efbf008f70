//! Finding and installing the compiler, on machines that lack one thing each.
//!
//! The machines are folders that stand for `PATH`: shell scripts play nvcc, g++ and pip. What the
//! scripts print is what the real programs print.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use toolchain::{Event, Interrupt, Origin, Search, Toolchain, ToolchainError, Version};

/// A machine with nothing on it.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir(machine.path("bin")).unwrap();
        machine
    }

    fn with_compiler() -> Self {
        let machine = Self::new();
        machine.script("bin/g++", "exit 0");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A toolkit in a folder of its own; its nvcc.
    fn toolkit(&self, name: &str, version: &str) -> PathBuf {
        self.script(&format!("{name}/bin/ptxas"), "exit 0");
        fs::create_dir_all(self.path(name).join("include/cccl")).unwrap();
        self.script(&format!("{name}/bin/nvcc"), &says(version))
    }

    /// A `python3 -m pip` whose `install` runs `body`, with `$target` set.
    fn pip(&self, body: &str) {
        self.script(
            "bin/python3",
            &format!(
                "case \"$3\" in --version) exit 0;; esac\n\
                 while [ $# -gt 0 ]; do [ \"$1\" = --target ] && target=\"$2\"; shift; done\n\
                 {body}"
            ),
        );
    }

    /// A `pip` that unpacks a compiler of the pinned version, leaving a line in `installs`.
    fn good_pip(&self, before: &str) {
        let body = format!(
            "{before}\n\
             echo one >> '{installs}'\n\
             home=\"$target/nvidia/cu13\"\n\
             mkdir -p \"$home/bin\" \"$home/nvvm/bin\" \"$home/include/crt\" \"$home/lib\"\n\
             touch \"$home/include/cuda_runtime.h\"\n\
             for tool in bin/ptxas nvvm/bin/cicc; do\n\
             printf '#!/bin/sh\\n' > \"$home/$tool\"; chmod +x \"$home/$tool\"; done\n\
             cat > \"$home/bin/nvcc\" <<'END'\n#!/bin/sh\n{nvcc}\nEND\n\
             chmod +x \"$home/bin/nvcc\"",
            installs = self.path("installs").display(),
            nvcc = says("13.0, V13.0.88"),
        );
        self.pip(&body);
    }

    fn installs(&self) -> usize {
        fs::read_to_string(self.path("installs")).unwrap_or_default().lines().count()
    }

    fn search(&self) -> Search {
        // The scripts need sh's companions; python3, g++ and nvcc of this machine stay out of it.
        for tool in ["mkdir", "touch", "cat", "chmod", "sleep", "sh"] {
            let real = ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(tool));
            let real = real.into_iter().find(|path| path.exists()).unwrap();
            let _ = std::os::unix::fs::symlink(real, self.path("bin").join(tool));
        }
        Search {
            argument: None,
            nibble_nvcc: None,
            cuda_home: None,
            path: OsString::from(self.path("bin")),
            cache: self.path("cache"),
        }
    }

    /// What is in the folder of toolchains after an installation.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("cache/toolchains")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn says(version: &str) -> String {
    format!("echo 'Cuda compilation tools, release {version}'")
}

fn find_or_install(search: &Search) -> Result<Toolchain, ToolchainError> {
    search.find_or_install(&Interrupt::default(), &mut |_| ())
}

#[test]
fn what_is_asked_for_by_name_comes_first() {
    let machine = Machine::with_compiler();
    let named = machine.toolkit("named", "12.9, V12.9.41");
    let variable = machine.toolkit("variable", "13.0, V13.0.1");
    machine.toolkit("home", "13.1, V13.1.2");
    machine.script("bin/nvcc", &says("12.8, V12.8.3"));
    machine.script("bin/ptxas", "exit 0");

    let mut search = Search {
        argument: Some(named.clone()),
        nibble_nvcc: Some(variable.clone()),
        cuda_home: Some(machine.path("home")),
        ..machine.search()
    };
    let found = find_or_install(&search).unwrap();
    assert_eq!((found.nvcc, found.origin), (named, Origin::Argument));
    assert_eq!(found.version, Version { major: 12, minor: 9, build: 41 });
    assert_eq!(found.ptxas, machine.path("named/bin/ptxas"));
    assert_eq!(found.include_dirs.len(), 2);

    search.argument = None;
    assert_eq!(find_or_install(&search).unwrap().nvcc, variable);
    search.nibble_nvcc = Some(machine.path("variable"));
    assert_eq!(find_or_install(&search).unwrap().origin, Origin::NibbleNvcc);
    search.nibble_nvcc = None;
    assert_eq!(find_or_install(&search).unwrap().origin, Origin::CudaHome);
    search.cuda_home = None;
    assert_eq!(find_or_install(&search).unwrap().origin, Origin::Path);
}

#[test]
fn a_named_compiler_must_work() {
    let machine = Machine::with_compiler();
    machine.good_pip("");
    let old = machine.toolkit("old", "12.4, V12.4.131");
    let broken = machine.script("broken/bin/nvcc", "echo 'cannot execute' >&2; exit 1");
    let alone = machine.script("alone/bin/nvcc", &says("13.0, V13.0.88"));
    let ask = |nvcc: &Path| {
        let search = Search { argument: Some(nvcc.to_owned()), ..machine.search() };
        find_or_install(&search).unwrap_err()
    };
    let error = ask(&old);
    assert_eq!(
        error.to_string(),
        format!(
            "nvcc 12.4.131 at {} (from --nvcc) is too old: FP4 and sm_100a came with 12.8",
            old.display()
        )
    );
    assert_eq!(error.mend(), "leave --nvcc out: nibble then fetches its own");
    assert!(ask(&broken).to_string().contains("says `cannot execute`"), "{}", ask(&broken));
    assert!(ask(&alone).to_string().contains("no ptxas beside it"), "{}", ask(&alone));
    assert!(matches!(ask(&machine.path("none")), ToolchainError::Missing { .. }));
    assert_eq!(machine.installs(), 0);
}

#[test]
fn an_old_compiler_that_merely_lies_about_is_explained_and_passed_over() {
    let machine = Machine::with_compiler();
    machine.good_pip("");
    machine.toolkit("home", "11.8, V11.8.89");
    let search = Search { cuda_home: Some(machine.path("home")), ..machine.search() };
    let mut warnings = Vec::new();
    let found = search
        .find_or_install(&Interrupt::default(), &mut |event| {
            if let Event::Warning(text) = event {
                warnings.push(text);
            }
        })
        .unwrap();
    assert_eq!(found.origin, Origin::Managed);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("nvcc 11.8.89") && warnings[0].contains("CUDA_HOME"));
}

#[test]
fn the_first_command_installs_and_the_second_finds() {
    let machine = Machine::with_compiler();
    machine.good_pip("sleep 0.2");
    let search = machine.search();
    assert!(search.find(&mut |_| ()).unwrap().is_none());
    let mut events = 0;
    let found = search
        .find_or_install(&Interrupt::default(), &mut |event| {
            assert!(matches!(event, Event::Installing { total: Some(_), .. }), "{event:?}");
            events += 1;
        })
        .unwrap();
    assert_eq!(found.origin, Origin::Managed);
    assert!(events >= 2, "no progress was told");
    assert_eq!(machine.left(), ["cuda-13.0.88", "lock"]);
    find_or_install(&search).unwrap();
    search.install(&Interrupt::default(), &mut |_| ()).unwrap();
    assert_eq!(machine.installs(), 1);
    // A copy that lost a part is no copy.
    fs::remove_file(found.ptxas).unwrap();
    find_or_install(&search).unwrap();
    assert_eq!(machine.installs(), 2);
}

#[test]
fn a_copy_that_is_not_what_was_installed_is_found_and_repaired() {
    // What sha256sum says of a first line alone, as URL-safe base64.
    const RECORD: &str =
        "nvidia/cu13/nvvm/bin/cicc,sha256=qAdtPSjSHgIBKyDq99v3VAmmJ3E0Q5Al8oLjaOMwWr8,10";
    let machine = Machine::with_compiler();
    machine.good_pip(&format!(
        "mkdir -p \"$target/nvvm.dist-info\"\n\
         printf '%s\\nnvvm.dist-info/RECORD,,\\n' '{RECORD}' > \"$target/nvvm.dist-info/RECORD\""
    ));
    let search = machine.search();
    search.verify(None).unwrap();
    find_or_install(&search).unwrap();
    search.verify(None).unwrap();

    let cicc = machine.path("cache/toolchains/cuda-13.0.88/nvidia/cu13/nvvm/bin/cicc");
    fs::write(&cicc, "").unwrap();
    let error = search.verify(None).unwrap_err();
    assert!(error.to_string().ends_with("cicc has 0 bytes instead of 10"), "{error}");
    assert_eq!(error.mend(), "nibble toolchain install");
    // Found by whoever compiles next.
    find_or_install(&search).unwrap();
    assert_eq!(machine.installs(), 2);
    search.verify(None).unwrap();

    fs::write(&cicc, "#!/bin/SH\n").unwrap();
    find_or_install(&search).unwrap();
    assert_eq!(machine.installs(), 2, "contents are looked at where somebody asks");
    let error = search.verify(None).unwrap_err();
    assert!(error.to_string().contains("the contents of"), "{error}");
    search.install(&Interrupt::default(), &mut |_| ()).unwrap();
    assert_eq!(machine.installs(), 3);
    search.verify(None).unwrap();
}

#[test]
fn what_an_installation_would_lack_is_said_before_it() {
    let machine = Machine::with_compiler();
    assert_eq!(machine.search().verify(None), Err(ToolchainError::NoPython));
    let search = Search { cache: PathBuf::from("/proc/cache"), ..machine.search() };
    assert!(matches!(search.verify(None), Err(ToolchainError::Cache { .. })));
}

#[test]
fn two_at_once_install_once() {
    let machine = Machine::with_compiler();
    machine.good_pip("sleep 0.3");
    let search = machine.search();
    thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| find_or_install(&search).unwrap().nvcc));
        let [a, b] = both.map(|one| one.join().unwrap());
        assert_eq!(a, b);
    });
    assert_eq!(machine.installs(), 1);
    assert_eq!(machine.left(), ["cuda-13.0.88", "lock"]);
}

#[test]
fn what_a_killed_installation_left_is_removed() {
    let machine = Machine::with_compiler();
    machine.good_pip("");
    let stale = machine.path("cache/toolchains/installing-x1/toolkit/nvidia");
    fs::create_dir_all(&stale).unwrap();
    find_or_install(&machine.search()).unwrap();
    assert_eq!(machine.left(), ["cuda-13.0.88", "lock"]);
}

#[test]
fn an_interrupt_leaves_nothing() {
    let machine = Machine::with_compiler();
    machine.good_pip("mkdir -p \"$target\"; sleep 600");
    let interrupt = Interrupt::default();
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            interrupt.raise();
        });
        machine.search().find_or_install(&interrupt, &mut |_| ()).unwrap_err()
    });
    assert_eq!(error, ToolchainError::Interrupted);
    assert_eq!(machine.left(), ["lock"]);
}

#[test]
fn no_host_compiler_is_said_before_anything_is_fetched() {
    let machine = Machine::new();
    machine.good_pip("");
    let error = find_or_install(&machine.search()).unwrap_err();
    assert_eq!(error, ToolchainError::NoHostCompiler);
    assert!(error.mend().contains("install g") || error.mend().contains("gcc"), "{}", error.mend());
    assert_eq!(machine.installs(), 0);
}

#[test]
fn no_python_and_no_pip_are_two_things() {
    let machine = Machine::with_compiler();
    let search = machine.search();
    assert_eq!(find_or_install(&search).unwrap_err(), ToolchainError::NoPython);
    machine.script("bin/python3", "echo 'No module named pip' >&2; exit 1");
    let error = find_or_install(&search).unwrap_err();
    assert!(matches!(error, ToolchainError::NoPip { .. }), "{error}");
    assert!(error.mend().contains("pip"), "{}", error.mend());
}

#[test]
fn failures_of_the_installer_are_told_apart_and_leave_nothing() {
    let machine = Machine::with_compiler();
    let fail = |text: &str| {
        machine.pip(&format!("mkdir -p \"$target\"\necho \"{text}\" >&2; exit 1"));
        let error = find_or_install(&machine.search()).unwrap_err();
        assert_eq!(machine.left(), ["lock"], "{text}");
        error
    };
    let offline = fail("Failed to establish a new connection: [Errno 111] Connection refused");
    assert!(matches!(offline, ToolchainError::NoNetwork), "{offline}");
    assert_eq!(offline.mend(), "nibble toolchain install");
    let full = fail("ERROR: [Errno 28] No space left on device");
    assert!(full.to_string().contains("is full: nibble needs 3"), "{full}");
    assert!(matches!(fail("DO NOT MATCH THE HASHES"), ToolchainError::WrongHash { .. }));
    let other = fail("ERROR: No matching distribution found");
    assert!(other.to_string().ends_with("    ERROR: No matching distribution found"), "{other}");
}

#[test]
fn the_real_pip_without_a_network_says_so() {
    let machine = Machine::with_compiler();
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|dir| dir.join("python3"))
        .find(|path| path.exists());
    let Some(real) = real else { return };
    // Nobody listens on the discard port.
    let path = std::env::var("PATH").unwrap();
    machine.script(
        "bin/python3",
        &format!(
            "PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS= PIP_NO_CACHE_DIR=1 PATH='{path}' \
             PIP_INDEX_URL=http://127.0.0.1:9/simple exec '{}' \"$@\"",
            real.display()
        ),
    );
    let error = find_or_install(&machine.search()).unwrap_err();
    assert!(matches!(error, ToolchainError::NoNetwork), "{error}");
    assert_eq!(machine.left(), ["lock"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let machine = Machine::with_compiler();
    machine.good_pip("");
    fs::write(machine.path("cache"), "a file").unwrap();
    let error = find_or_install(&machine.search()).unwrap_err();
    assert!(matches!(error, ToolchainError::Cache { .. }), "{error}");
}
