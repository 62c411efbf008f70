//! `printf`, `assert` and `malloc` in a kernel, from `fixtures/system.cu`.

use emulator::{Config, Fault, FaultKind, LaunchConfig, Machine};

/// Run with `a[5]` set to this; the words of `a`, and what was printed.
fn run(fifth: u32) -> (Result<(), Box<Fault>>, Vec<u32>, String) {
    let machine = Machine::new(Config { threads: 1, ..Config::default() });
    let a = machine.memory().allocate(4 * 32, "a").expect("room");
    let at = std::ptr::with_exposed_provenance_mut::<u32>(a as usize);
    // SAFETY: the allocation above, which nothing else uses now.
    unsafe { at.add(5).write(fifth) };
    let module = machine.load(include_str!("fixtures/system.ptx")).expect("PTX");
    let name = module.kernels().next().expect("a kernel").to_owned();
    let launch = LaunchConfig {
        kernel: module.kernel(&name).expect("kernel"),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    let mut params = a.to_le_bytes().to_vec();
    params.extend(1.5f32.to_le_bytes());
    let result = machine.launch(&launch, &params).map(|_| ());
    // SAFETY: as above.
    let words = unsafe { std::slice::from_raw_parts(at, 32) }.to_vec();
    (result, words, String::from_utf8(machine.take_output()).expect("text"))
}

#[test]
fn kernels_print_and_allocate() {
    let (result, words, printed) = run(0);
    result.unwrap_or_else(|fault| panic!("{}", fault.headline()));
    let expected: Vec<u32> = (7..39).collect();
    assert_eq!(words, expected);
    assert_eq!(
        printed,
        "thread 3 of 32:   1.50|text|123456789012 x %\n\
         thread 19 of 32:   1.50|text|123456789012 x %\ndone\n"
    );
}

#[test]
fn a_failed_assertion_says_what_and_where() {
    let (result, _, printed) = run(1);
    let fault = result.expect_err("thread 5 stops");
    assert!(matches!(&fault.kind, FaultKind::Trap { message: Some(_) }));
    assert!(
        fault
            .headline()
            .ends_with("stopped: the assertion `a[threadIdx.x] == 0` failed (system.cu:10)"),
        "{}",
        fault.headline()
    );
    assert_eq!(fault.thread, [5, 0, 0]);
    assert!(printed.starts_with("thread 3"), "what was printed before is there: {printed}");
}
