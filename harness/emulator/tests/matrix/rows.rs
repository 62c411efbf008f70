//! `ldmatrix`, `stmatrix` and `movmatrix`, on shared memory whose bytes are their own addresses.

use emulator::{Config, LaunchConfig, Level, Machine};

/// Run `body` with lanes in `%lane`, 512 words of shared memory `s` that hold `f(word)`, and the address
/// of `lane`'s row, 16 bytes each, in `%row`. Registers `%r0` to `%r3` are stored at the end, and then
/// all of shared memory.
fn run(body: &str, f: impl Fn(usize) -> u32) -> (Vec<[u32; 4]>, Vec<u32>) {
    let ptx = format!(
        ".version 9.0\n.target sm_120a\n.address_size 64\n\
         .visible .entry kernel(.param .u64 out)\n{{\n\
         .shared .align 16 .b8 s[2048];\n\
         .reg .b32 %r<4>, %lane, %at, %row, %w, %v;\n.reg .b64 %to, %from, %far, %generic;\n.reg .pred %p;\n\
         mov.u32 %lane, %tid.x;\nld.param.u64 %to, [out];\nmov.u32 %w, %lane;\n\
         FILL:\nmul.wide.u32 %far, %w, 4;\nadd.s64 %from, %to, %far;\nld.global.u32 %v, [%from];\n\
         shl.b32 %at, %w, 2;\nmov.u32 %row, s;\nadd.u32 %at, %at, %row;\nst.shared.u32 [%at], %v;\n\
         add.u32 %w, %w, 32;\nsetp.lt.u32 %p, %w, 512;\n@%p bra FILL;\nbar.warp.sync -1;\n\
         shl.b32 %at, %lane, 4;\nadd.u32 %row, %row, %at;\ncvt.u64.u32 %generic, %row;\n\
         cvta.shared.u64 %generic, %generic;\n\
         mov.u32 %r0, %lane; mov.u32 %r1, %lane; mov.u32 %r2, %lane; mov.u32 %r3, %lane;\n\
         {body}\nbar.warp.sync -1;\n\
         mul.wide.u32 %far, %lane, 16;\nadd.s64 %from, %to, %far;\n\
         st.global.v4.u32 [%from+2048], {{%r0, %r1, %r2, %r3}};\nmov.u32 %w, %lane;\n\
         SPILL:\nmul.wide.u32 %far, %w, 4;\nadd.s64 %from, %to, %far;\n\
         shl.b32 %at, %w, 2;\nmov.u32 %row, s;\nadd.u32 %at, %at, %row;\nld.shared.u32 %v, [%at];\n\
         st.global.u32 [%from], %v;\nadd.u32 %w, %w, 32;\nsetp.lt.u32 %p, %w, 512;\n@%p bra SPILL;\nret;\n}}\n"
    );
    let machine = Machine::new(Config { level: Level::detect(), threads: 1, ..Config::default() });
    let out = machine.memory().allocate(4 * 640, "out").expect("room");
    let words = std::ptr::with_exposed_provenance_mut::<u32>(out as usize);
    // SAFETY: the allocation above, which nothing else uses now.
    (0..512).for_each(|w| unsafe { words.add(w).write(f(w)) });
    let module = machine.load(&ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        cooperative: false,
    };
    machine
        .launch(&launch, &out.to_le_bytes())
        .unwrap_or_else(|e| panic!("{}\n{ptx}", e.headline()));
    // SAFETY: as above.
    let words = unsafe { std::slice::from_raw_parts(words, 640) };
    let registers = words[512..].chunks(4).map(|c| c.try_into().expect("four")).collect();
    (registers, words[..512].to_vec())
}

/// Every 16-bit element is its own number.
fn numbered(word: usize) -> u32 {
    (2 * word) as u32 | (2 * word as u32 + 1) << 16
}

/// Element (row, column) of matrix `m`: rows of eight follow each other.
fn element(m: usize, row: usize, column: usize) -> u32 {
    (64 * m + 8 * row + column) as u32
}

#[test]
fn matrices_of_16_bits_are_loaded() {
    for address in ["%row", "%generic"] {
        let space = if address == "%row" { ".shared" } else { "" };
        let body = format!(
            "ldmatrix.sync.aligned.m8n8.x4{space}.b16 {{%r0, %r1, %r2, %r3}}, [{address}];"
        );
        let (registers, _) = run(&body, numbered);
        for (lane, values) in registers.iter().enumerate() {
            let (row, column) = (lane / 4, 2 * (lane % 4));
            for (m, &value) in values.iter().enumerate() {
                assert_eq!(value, element(m, row, column) | element(m, row, column + 1) << 16);
            }
        }
    }
    let (registers, _) =
        run("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r0, %r1}, [%row];", numbered);
    for (lane, values) in registers.iter().enumerate() {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        for (m, &value) in values[..2].iter().enumerate() {
            let expected = element(m, column, row) | element(m, column + 1, row) << 16;
            assert_eq!(value, expected, "lane {lane}");
        }
        assert_eq!(values[2], lane as u32, "only two are written");
    }
}

#[test]
fn what_is_stored_is_loaded_again() {
    for trans in ["", ".trans"] {
        let body = format!(
            "mul.lo.u32 %r0, %lane, 65537; add.u32 %r1, %r0, 1048592;\n\
             stmatrix.sync.aligned.m8n8.x2{trans}.shared.b16 [%row], {{%r0, %r1}};\n\
             ldmatrix.sync.aligned.m8n8.x2{trans}.shared.b16 {{%r2, %r3}}, [%row];"
        );
        let (registers, memory) = run(&body, |_| 0);
        for values in &registers {
            assert_eq!(values[0], values[2]);
            assert_eq!(values[1], values[3]);
        }
        // Lane 5 holds (1, 2) and (1, 3) of the first matrix.
        let expected = if trans.is_empty() { 5 | 5 << 16 } else { 0 };
        assert_eq!(memory[4 + 1] & expected, expected);
    }
}

#[test]
fn a_matrix_is_transposed_in_registers() {
    let body = "shl.b32 %r0, %lane, 1; add.u32 %r1, %r0, 1; shl.b32 %r1, %r1, 16;\n\
                or.b32 %r0, %r0, %r1; movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;";
    let (registers, _) = run(body, |_| 0);
    for (lane, values) in registers.iter().enumerate() {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        assert_eq!(values[1], element(0, column, row) | element(0, column + 1, row) << 16);
    }
}

#[test]
fn narrow_elements_are_spread_to_bytes() {
    // Row r of 16 four-bit elements: element i is i, then 64 bits that must not matter.
    let packed = |w: usize| match w % 4 {
        0 => 0x7654_3210,
        1 => 0xfedc_ba98,
        _ => 0xffff_ffff,
    };
    let body = "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r0}, [%row];";
    let (registers, _) = run(body, packed);
    for (lane, values) in registers.iter().enumerate() {
        let first = 4 * (lane as u32 % 4);
        let expected = (0..4).fold(0, |word, i| word | ((first + i) << 2) << (8 * i));
        assert_eq!(values[0], expected, "lane {lane}");
    }
    // 16 six-bit elements, element i is i + 40.
    let bits = (0..16).fold(0u128, |all, i| all | (i + 40) << (6 * i));
    let packed = |w: usize| if w % 4 == 3 { u32::MAX } else { (bits >> (32 * (w % 4))) as u32 };
    let body = "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%r0, %r1}, [%row];";
    let (registers, _) = run(body, packed);
    for (lane, values) in registers.iter().enumerate() {
        let first = 4 * (lane as u32 % 4) + 40;
        let expected = (0..4).fold(0, |word, i| word | (first + i) << (8 * i));
        assert_eq!(values[..2], [expected; 2], "lane {lane}");
    }
}

#[test]
fn matrices_of_bytes_are_loaded_transposed() {
    // Byte b of row r is 16·r + b, for the first 16 rows; the second matrix repeats it.
    let bytes = |w: usize| {
        let (row, first) = (w / 4 % 16, 4 * (w % 4));
        (0..4).fold(0, |word, i| word | ((16 * row + first + i) as u32) << (8 * i))
    };
    let body = "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r0, %r1, %r2, %r3}, [%row];";
    let (registers, _) = run(body, bytes);
    for (lane, values) in registers.iter().enumerate() {
        for (register, &value) in values.iter().enumerate() {
            let row = lane / 4 + 8 * (register % 2);
            let expected = (0..4)
                .fold(0, |word, i| word | ((16 * (4 * (lane % 4) + i) + row) as u32) << (8 * i));
            assert_eq!(value, expected, "lane {lane}, register {register}");
        }
    }
}

#[test]
fn a_row_that_is_not_aligned_or_not_there_is_a_fault() {
    for (body, says) in [
        (
            "add.u32 %row, %row, 4; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%row];",
            "multiple of 16",
        ),
        (
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%row+1792];",
            "past the end",
        ),
    ] {
        let result = std::panic::catch_unwind(|| run(body, |_| 0));
        let message = *result.expect_err("a fault").downcast::<String>().expect("a message");
        assert!(message.contains(says), "{message}");
    }
}
