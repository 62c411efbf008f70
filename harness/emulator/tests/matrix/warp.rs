//! One warp that executes one `mma` on given fragments.

use emulator::{Config, LaunchConfig, Level, Machine};

use crate::float::Format;
use crate::layout::Place;

pub struct Random(pub u64);

/// Which numbers operands are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Range {
    NearOne,
    Finite,
    /// All bit patterns.
    Any,
}

impl Random {
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A word of elements.
    pub fn word(&mut self, format: &Format, range: Range) -> u32 {
        let bits = self.next();
        match format.bits {
            _ if range == Range::Any && !bits.is_multiple_of(3) => (bits >> 32) as u32,
            _ if range == Range::Finite => (0..32 / format.bits)
                .map(|i| self.finite(format) << (i * format.bits))
                .fold(0, |word, element| word | element),
            16 => self.pair(format, Range::NearOne),
            32 => self.float(Range::NearOne),
            // Any four or eight bits are near one, but for those of the wide range of E5M2.
            _ => (bits >> 32) as u32 & 0xbfbf_bfbf,
        }
    }

    /// Any finite number, small ones and large ones, one in four zero; of the formats with exponents of
    /// `f32`, from the middle third of those.
    fn finite(&mut self, format: &Format) -> u32 {
        let bits = self.next();
        let code = (bits >> 32) as u32 & (u32::MAX >> (32 - format.bits));
        if bits.is_multiple_of(4) {
            return 0;
        }
        let exponents = if format.bits == 32 { code >> 23 } else { code >> 7 } & 0xff;
        let wide = format.read(0x3f80).significand == 1 << 7 || format.bits == 32;
        let far = wide && !(87..168).contains(&exponents);
        if far || format.read(code).special.is_some() { self.finite(format) } else { code }
    }

    /// Two 16-bit floats.
    pub fn pair(&mut self, format: &Format, range: Range) -> u32 {
        let bits = self.next() as u32;
        match range {
            Range::Any => return bits,
            Range::Finite => return self.word(format, range),
            Range::NearOne => {}
        }
        let one = |random: &mut Self| {
            let x = random.near_one();
            if format.read(0x3c00).significand == 1 << 10 {
                u32::from(formats::f16::encode(x))
            } else {
                u32::from(formats::bf16::encode(x))
            }
        };
        one(self) | one(self) << 16
    }

    pub fn float(&mut self, range: Range) -> u32 {
        match range {
            Range::Any => self.next() as u32,
            Range::Finite => self.finite(&crate::float::F32),
            Range::NearOne => self.near_one().to_bits(),
        }
    }

    fn near_one(&mut self) -> f32 {
        let bits = self.next();
        let exponent = 121 + (bits >> 40) as u32 % 12;
        f32::from_bits((bits as u32 & 0x807f_ffff) | exponent << 23)
    }

    /// Four scales.
    pub fn scales(&mut self, format: &Format, range: Range) -> u32 {
        let bits = self.next() as u32;
        let signless = format.read(0x38).exponent == 0;
        match range {
            Range::Any => bits,
            // No NaN: a bit less in the exponent.
            _ if signless => bits & 0xf7f7_f7f7,
            // E8M0 near one, or not far.
            Range::NearOne => bits & 0x0707_0707 | 0x7c7c_7c7c,
            Range::Finite => (bits & 0x1f1f_1f1f) + 0x7070_7070,
        }
    }
}

pub struct Warp {
    ptx: String,
    words: Vec<u32>,
    /// Words of each matrix in a lane.
    counts: [(char, usize); 5],
    results: usize,
}

impl Warp {
    pub fn new(target: &str, form: &str, a: usize, b: usize, c: usize) -> Self {
        Self::build(target, form, [a, b, c], "b32", None)
    }

    pub fn doubles(form: &str, a: usize, b: usize, c: usize) -> Self {
        Self::build("sm_90a", form, [a, b, c], "f64", None)
    }

    /// With scales: byte and thread selectors of A and B.
    pub fn scaled(
        form: &str,
        a: usize,
        b: usize,
        of_a: (usize, usize),
        of_b: (usize, usize),
    ) -> Self {
        Self::build("sm_120a", form, [a, b, 4], "b32", Some([of_a, of_b]))
    }

    fn build(
        target: &str,
        form: &str,
        [a, b, c]: [usize; 3],
        ty: &str,
        selectors: Option<[(usize, usize); 2]>,
    ) -> Self {
        let bytes = if ty == "f64" { 8 } else { 4 };
        let each = bytes / 4;
        let scales = usize::from(selectors.is_some());
        let counts =
            [('a', a * each), ('b', b * each), ('c', c * each), ('s', scales), ('t', scales)];
        let per_lane: usize = counts.iter().map(|(_, n)| n).sum();
        let vector = |name: char, n: usize| {
            let list: Vec<_> = (0..n).map(|i| format!("%{name}{i}")).collect();
            format!("{{{}}}", list.join(", "))
        };
        let mut loads = String::new();
        let mut offset = 0;
        for (name, n) in [('a', a), ('b', b), ('c', c)] {
            for i in 0..n {
                loads += &format!("ld.global.{ty} %{name}{i}, [%from+{offset}];\n");
                offset += bytes;
            }
        }
        let mut tail = String::new();
        if let Some([x, y]) = selectors {
            loads += &format!("ld.global.b32 %s0, [%from+{offset}];\n");
            loads += &format!("ld.global.b32 %t0, [%from+{}];\n", offset + 4);
            tail = format!(", %s0, {{{}, {}}}, %t0, {{{}, {}}}", x.0, x.1, y.0, y.1);
        }
        let stores: String =
            (0..c).map(|i| format!("st.global.{ty} [%to+{}], %d{i};\n", bytes * i)).collect();
        let [va, vb, vc, vd] = [vector('a', a), vector('b', b), vector('c', c), vector('d', c)];
        let ptx = format!(
            ".version 9.0\n.target {target}\n.address_size 64\n\
             .visible .entry kernel(.param .u64 in, .param .u64 out)\n{{\n\
             .reg .{ty} %a<8>, %b<8>, %c<8>, %d<8>;\n.reg .b32 %s<1>, %t<1>, %lane, %at;\n\
             .reg .b64 %from, %to, %far;\n\
             mov.u32 %lane, %tid.x;\n\
             ld.param.u64 %from, [in];\nld.param.u64 %to, [out];\n\
             mul.wide.u32 %far, %lane, {};\nadd.s64 %from, %from, %far;\n\
             mul.wide.u32 %far, %lane, {};\nadd.s64 %to, %to, %far;\n\
             {loads}{form} {vd}, {va}, {vb}, {vc}{tail};\n{stores}ret;\n}}\n",
            4 * per_lane,
            bytes * c,
        );
        Self { ptx, words: vec![0; 32 * per_lane], counts, results: each * c }
    }

    /// `change`, and then the same again, with C the last D.
    pub fn again(mut self, change: &str) -> Self {
        let last = self.ptx.lines().rfind(|line| line.starts_with("mma.")).expect("an mma");
        let next = format!("{change}\n{}\n", last.replace("%c", "%d"));
        let at = self.ptx.find("st.global").expect("stores");
        self.ptx.insert_str(at, &next);
        self
    }

    fn per_lane(&self) -> usize {
        self.words.len() / 32
    }

    /// Set every word from its matrix, lane and register.
    pub fn fill(&mut self, mut f: impl FnMut(char, (usize, usize)) -> u32) {
        let per_lane = self.per_lane();
        for lane in 0..32 {
            let mut at = lane * per_lane;
            for (matrix, count) in self.counts {
                for register in 0..count {
                    self.words[at] = f(matrix, (lane, register));
                    at += 1;
                }
            }
        }
    }

    pub fn fill_doubles(&mut self, mut f: impl FnMut() -> f64) {
        for pair in self.words.chunks_mut(2) {
            let bits = f().to_bits();
            pair.copy_from_slice(&[bits as u32, (bits >> 32) as u32]);
        }
    }

    pub fn word(&self, matrix: char, lane: usize, register: usize) -> u32 {
        let before: usize =
            self.counts.iter().take_while(|(name, _)| *name != matrix).map(|(_, n)| n).sum();
        self.words[lane * self.per_lane() + before + register]
    }

    /// A 32-bit accumulator.
    pub fn value(&self, matrix: char, place: Place) -> u32 {
        self.word(matrix, place.lane, place.index)
    }

    pub fn double(&self, matrix: char, lane: usize, register: usize) -> f64 {
        let low = self.word(matrix, lane, 2 * register);
        let high = self.word(matrix, lane, 2 * register + 1);
        f64::from_bits(u64::from(low) | u64::from(high) << 32)
    }

    /// Element `place.index` of A or B, in the low bits.
    pub fn element(&self, matrix: char, place: Place) -> u32 {
        let registers = self.counts.iter().find(|(name, _)| *name == matrix).expect("it").1;
        let bits = 32 * registers / elements(self, matrix);
        let per_word = 32 / bits;
        let word = self.word(matrix, place.lane, place.index / per_word);
        let shifted = word >> (bits * (place.index % per_word));
        if bits == 32 { shifted } else { shifted & ((1 << bits) - 1) }
    }

    pub fn run(&self) -> Vec<Vec<u32>> {
        self.run_with(32).unwrap_or_else(|fault| panic!("{fault}\n{}", self.ptx))
    }

    /// With so many lanes, on every level; all must agree.
    pub fn run_with(&self, threads: u32) -> Result<Vec<Vec<u32>>, String> {
        let mut all = Vec::new();
        for &level in Level::all() {
            all.push(self.run_on(level, threads)?);
        }
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "levels differ:\n{}", self.ptx);
        Ok(all.remove(0))
    }

    fn run_on(&self, level: Level, threads: u32) -> Result<Vec<Vec<u32>>, String> {
        let machine = Machine::new(Config { level, threads: 1, ..Config::default() });
        let bytes = 4 * self.words.len() as u64;
        let input = machine.memory().allocate(bytes, "in").expect("room");
        let output = machine.memory().allocate(4 * 32 * self.results as u64, "out").expect("room");
        // SAFETY: the allocation above, which nothing else uses now.
        unsafe {
            let to = std::ptr::with_exposed_provenance_mut::<u32>(input as usize);
            std::ptr::copy_nonoverlapping(self.words.as_ptr(), to, self.words.len());
        }
        let module = machine.load(&self.ptx).unwrap_or_else(|e| panic!("{e}\n{}", self.ptx));
        let launch = LaunchConfig {
            kernel: module.kernel("kernel").expect("kernel"),
            grid: [1, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        let mut params = input.to_le_bytes().to_vec();
        params.extend(output.to_le_bytes());
        machine.launch(&launch, &params).map_err(|fault| fault.headline())?;
        let from = std::ptr::with_exposed_provenance::<u32>(output as usize);
        // SAFETY: as above.
        let words = unsafe { std::slice::from_raw_parts(from, 32 * self.results) };
        Ok(words.chunks(self.results).map(<[u32]>::to_vec).collect())
    }
}

/// Elements of a matrix in a lane, from the name of the form.
fn elements(warp: &Warp, matrix: char) -> usize {
    let form = warp.ptx.lines().find(|line| line.starts_with("mma.")).expect("an mma");
    let shape = form.split('.').find(|part| part.starts_with('m') && part.contains("n8k"));
    let (rows, depth) = shape.expect("a shape")[1..].split_once("n8k").expect("a shape");
    let rows: usize = if matrix == 'a' { rows.parse().expect("rows") } else { 8 };
    rows * depth.parse::<usize>().expect("a depth") / 32
}
