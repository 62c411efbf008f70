//! Shuffles and votes as an H200 does them, where the manual leaves them undefined, too: every line of
//! `fixtures/shuffles.h200.txt` was printed by `fixtures/shuffles.cu` on that card.
//!
//! ```text
//! left up 0000ffff ffffffff 1: 1000 1000 … - - | fffffffe      value by lane, then the predicates
//! ```
//!
//! A dash is a lane that took no part. The first word says what the lanes do (see [`body`]), the others
//! are the mode, two masks, and the distance.

use emulator::{Config, LaunchConfig, Level, Machine};

/// What a lane has that took no part.
const NOTHING: u32 = 0xeeee;

struct Case<'a> {
    /// As far as the colon.
    name: &'a str,
    what: &'a str,
    mode: &'a str,
    x: u32,
    y: u32,
    distance: u32,
    values: Vec<u32>,
    predicates: u32,
}

impl<'a> Case<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (name, results) = line.split_once(": ")?;
        let [what, mode, x, y, distance] = name.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let (values, predicates) = results.split_once(" | ")?;
        let hex = |text| u32::from_str_radix(text, 16).ok();
        let value = |text: &str| if text == "-" { Some(NOTHING) } else { text.parse().ok() };
        Some(Self {
            name,
            what,
            mode,
            x: hex(x)?,
            y: hex(y)?,
            distance: distance.parse().ok()?,
            values: values.split(' ').map(value).collect::<Option<_>>()?,
            predicates: hex(predicates)?,
        })
    }

    fn program(&self) -> String {
        format!(
            ".version 9.0\n.target sm_90a\n.address_size 64\n\
             .visible .entry kernel(.param .u64 a, .param .u32 x, .param .u32 y, .param .u32 b)\n{{\n\
             .reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .b64 %d<4>;\n\
             ld.param.u64 %d0, [a];\nld.param.u32 %r1, [x];\nld.param.u32 %r2, [y];\n\
             ld.param.u32 %r3, [b];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\n\
             add.u64 %d0, %d0, %d1;\nadd.u32 %r4, %r0, 1000;\nmov.u32 %r5, {NOTHING};\n\
             mov.u32 %r6, 0;\nsetp.lt.u32 %p0, %r0, 16;\nshr.u32 %r7, %r1, %r0;\n\
             and.b32 %r7, %r7, 1;\nsetp.eq.u32 %p1, %r7, 0;\nand.b32 %r8, %r0, 1;\n\
             setp.eq.u32 %p3, %r8, 1;\n{}\
             JOIN:\nbar.warp.sync 0xffffffff;\nst.global.u32 [%d0], %r5;\n\
             st.global.u32 [%d0+128], %r6;\nret;\n}}\n",
            body(self.what, self.mode, self.x)
        )
    }

    /// The 32 values, then the 32 predicates.
    fn run(&self, level: Level) -> Vec<u32> {
        let machine = Machine::new(Config { level, threads: 1, ..Config::default() });
        let a = machine.memory().allocate(256, "a").expect("room");
        let at = std::ptr::with_exposed_provenance_mut::<u32>(a as usize);
        // SAFETY: the allocation above, which nothing else uses now.
        let words = unsafe { std::slice::from_raw_parts_mut(at, 64) };
        words[..32].fill(NOTHING);
        let text = self.program();
        let module = machine.load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let launch = LaunchConfig {
            kernel: module.kernel("kernel").expect("kernel"),
            grid: [1, 1, 1],
            block: [32, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        let mut params = a.to_le_bytes().to_vec();
        for word in [self.x, self.y, self.distance] {
            params.extend(word.to_le_bytes());
        }
        if let Err(fault) = machine.launch(&launch, &params) {
            panic!("{}: {}", self.name, fault.headline());
        }
        words.to_vec()
    }
}

/// Up to the label `JOIN`, as the functions of `shuffles.cu` do it.
fn body(what: &str, mode: &str, x: u32) -> String {
    let clamp = if mode == "up" { 0 } else { 31 };
    let shuffle = |mask: &str| {
        format!(
            "shfl.sync.{mode}.b32 %r5|%p2, %r4, %r3, {clamp}, {mask};\nselp.u32 %r6, 1, 0, %p2;\n"
        )
    };
    let exchange = |mask: u32| format!("shfl.sync.bfly.b32 %r5, %r4, %r3, 31, {mask};\n");
    let ballot =
        |predicate: &str, mask: &str| format!("vote.sync.ballot.b32 %r5, {predicate}, {mask};\n");
    match (what, x) {
        ("left", _) => format!("@%p1 ret;\n{}bra JOIN;\n", shuffle("%r2")),
        ("elsewhere", _) => format!("@%p1 bra JOIN;\n{}", shuffle("%r2")),
        ("masked", _) => format!("selp.b32 %r9, %r1, %r2, %p0;\n{}", shuffle("%r9")),
        ("halves", _) => format!(
            "@%p0 bra LOW;\nadd.u32 %r4, %r0, 2000;\n{}bra JOIN;\nLOW:\n{}",
            shuffle("%r2"),
            shuffle("%r1")
        ),
        ("upper_only", mask) => format!("@%p0 bra JOIN;\n{}", exchange(mask)),
        ("all_with_ffff", mask) => exchange(mask),
        // Votes: of the upper half alone, of all with half a mask, where a quarter has left, of halves.
        ("votes", 0) => format!("@%p0 bra JOIN;\n{}", ballot("1", "0xffff")),
        ("votes", 1) => ballot("1", "0xffff"),
        ("votes", 2) => {
            format!("setp.gt.u32 %p2, %r0, 23;\n@%p2 ret;\n{}", ballot("1", "0xffffffff"))
        }
        ("votes", 3) => {
            format!("selp.b32 %r9, 0xffff, 0xffff0000, %p0;\n{}", ballot("%p3", "%r9"))
        }
        _ => panic!("{what} {x}"),
    }
}

#[test]
fn every_case_has_what_an_h200_gave() {
    let measured = include_str!("fixtures/shuffles.h200.txt");
    let cases: Vec<_> = measured.lines().map(|line| Case::of(line).expect(line)).collect();
    assert_eq!(cases.len(), 273);
    let mut wrong = Vec::new();
    for case in &cases {
        let words = case.run(Level::detect());
        let predicates = (0..32).fold(0, |bits, lane| bits | words[32 + lane] << lane);
        if words[..32] != case.values[..] || predicates != case.predicates {
            wrong.push(format!("{}: {:?} | {predicates:08x}", case.name, &words[..32]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
