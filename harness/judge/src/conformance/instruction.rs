//! One line of `instructions.txt`: a kernel, and what to feed it.

use problems::Poison;

/// Threads that each compute one value: 8 blocks of 256.
pub const THREADS: usize = 2048;

/// Where a value lies, and which are worth trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    B16,
    B32,
    B64,
    F16,
    F32,
    F64,
    Bf16,
    TwoF16,
    TwoBf16,
    Small,
    TwoFp8,
}

impl Type {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "f16" => Self::F16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "bf16" => Self::Bf16,
            "h2" => Self::TwoF16,
            "n2" => Self::TwoBf16,
            "s" => Self::Small,
            "e8" => Self::TwoFp8,
            _ => return None,
        })
    }

    fn bits(self) -> u32 {
        match self {
            Self::B16 | Self::F16 | Self::Bf16 | Self::TwoFp8 => 16,
            Self::B32 | Self::F32 | Self::TwoF16 | Self::TwoBf16 | Self::Small => 32,
            Self::B64 | Self::F64 => 64,
        }
    }

    /// A value of thread `index`: the special ones come with the others in all pairs, since their
    /// number is prime to the threads'; the rest is random, most of it of moderate size.
    fn value(self, index: usize, random: u64) -> u64 {
        let moderate = |exponent: u64, mantissa: u32| {
            // Sign and mantissa at random, an exponent within 16 of one.
            let near = exponent + (random >> 56) % 32 - 16;
            (random & ((1 << mantissa) - 1)) | near << mantissa | (random >> 40 & 1) << 63
        };
        let pick = |specials: &[u64]| match index % 3 {
            0 => Some(specials[(index / 3) % specials.len()]),
            _ => None,
        };
        let half = |specials: &[u64; 12]| {
            let other = specials[(random >> 20) as usize % 12];
            match index % 3 {
                0 => specials[(index / 3) % 12] | other << 16,
                _ => random & 0xffff_ffff,
            }
        };
        const F16: [u64; 12] =
            [0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x83ff, 0x7bff, 0x0400, 0x3555];
        const BF16: [u64; 12] =
            [0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 1, 0x807f, 0x7f7f, 0x0080, 0x3eab];
        match self {
            Self::B32 | Self::B16 => pick(&[
                0,
                1,
                2,
                3,
                7,
                8,
                31,
                32,
                33,
                0x7f,
                0x80,
                0xff,
                0x7fff,
                0x8000,
                0xffff,
                0x1_0000,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff,
            ])
            .unwrap_or(random),
            Self::B64 => pick(&[
                0,
                1,
                0xffff_ffff,
                1 << 32,
                i64::MAX as u64,
                1 << 63,
                u64::MAX,
                0x1_ffff_ffff,
            ])
            .unwrap_or(random),
            Self::F32 => pick(&[
                0,
                0x8000_0000,
                0x3f80_0000,
                0xbf80_0000,
                0x7f80_0000,
                0xff80_0000,
                0x7fc0_0000,
                1,
                0x807f_ffff,
                0x0080_0000,
                0x7f7f_ffff,
                0x3f00_0000,
                0x3fc0_0000,
                0x4020_0000,
                0x43e0_0000,
                0x43f0_0000,
                0x4f00_0000,
                0xcf00_0000,
                0x3380_0000,
                0x0000_4000,
            ])
            .unwrap_or_else(|| match index % 3 {
                1 => moderate(127, 23) & 0x7fff_ffff | (random >> 8 & 1) << 31,
                _ => random & 0xffff_ffff,
            }),
            Self::F64 => pick(&[
                0,
                1 << 63,
                1.0_f64.to_bits(),
                f64::INFINITY.to_bits(),
                f64::NAN.to_bits(),
                1,
                f64::MAX.to_bits(),
                f64::MIN_POSITIVE.to_bits(),
                1.5_f64.to_bits(),
                2_147_483_648.5_f64.to_bits(),
                16_777_217.0_f64.to_bits(),
            ])
            .unwrap_or_else(|| match index % 3 {
                1 => moderate(1023, 52),
                _ => random,
            }),
            Self::F16 => half(&F16) & 0xffff,
            Self::Bf16 => half(&BF16) & 0xffff,
            Self::TwoF16 => half(&F16),
            Self::TwoBf16 => half(&BF16),
            Self::Small => random % 40,
            Self::TwoFp8 => (index as u64 % 256) | ((random % 256) << 8),
        }
    }
}

/// A line.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// "add.rn.f32 d, a, b;"
    pub text: String,
    result: Type,
    operands: Vec<Type>,
    /// Units in the last place that the result may be off.
    pub units: u64,
}

impl Instruction {
    /// All lines of a list.
    ///
    /// # Errors
    ///
    /// The line that is none.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(|line| Self::parse(line).ok_or_else(|| format!("`{line}`"))).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let (types, text) = line.split_once(" : ")?;
        let (types, units) = match types.split_once('~') {
            Some((types, units)) => (types, units.trim().parse().ok()?),
            None => (types, 0),
        };
        let mut types = types.split_whitespace().map(Type::parse);
        let result = types.next()??;
        let operands: Option<Vec<Type>> = types.collect();
        let operands = operands.filter(|operands| (1..=3).contains(&operands.len()))?;
        Some(Self { text: text.to_owned(), result, operands, units })
    }

    /// Three words for each thread; operands that there are not are zero.
    pub fn inputs(&self) -> Vec<u64> {
        let mut words = vec![0; 3 * THREADS];
        let mut random = vec![0; 8 * words.len()];
        Poison::new(0x1b5).fill(&mut random);
        for (place, word) in words.iter_mut().enumerate() {
            if let Some(operand) = self.operands.get(place % 3) {
                let random =
                    random[8 * place..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
                // Another order for each operand, so that special values meet.
                let index = place / 3 * [1, 5, 11][place % 3] + place % 3;
                *word = operand.value(index, random);
            }
        }
        words
    }

    /// A module with the kernel `kernel(in, out)`.
    pub fn module(&self, arch: &str) -> String {
        let Self { text, result, operands, .. } = self;
        let mut body = String::new();
        for (place, operand) in operands.iter().enumerate() {
            let name = ["a", "b", "c"][place];
            body += &format!("\tld.global.b{} {name}, [%in+{}];\n", operand.bits(), 8 * place);
        }
        let declared: String = ["a", "b", "c"]
            .iter()
            .zip(operands)
            .map(|(name, operand)| format!("\t.reg .b{} {name};\n", operand.bits()))
            .collect();
        let bits = result.bits();
        format!(
            ".version 8.4\n.target {arch}\n.address_size 64\n\
             .visible .entry kernel(.param .u64 in, .param .u64 out)\n{{\n\
             \t.reg .pred p, q;\n\t.reg .b32 t, u, %i<4>;\n\t.reg .b64 %in, %out, %o;\n\
             {declared}\t.reg .b{bits} d;\n\
             \tld.param.u64 %in, [in];\n\tcvta.to.global.u64 %in, %in;\n\
             \tld.param.u64 %out, [out];\n\tcvta.to.global.u64 %out, %out;\n\
             \tmov.u32 %i0, %ctaid.x;\n\tmov.u32 %i1, %ntid.x;\n\tmov.u32 %i2, %tid.x;\n\
             \tmad.lo.u32 %i0, %i0, %i1, %i2;\n\
             \tmul.wide.u32 %o, %i0, 24;\n\tadd.s64 %in, %in, %o;\n\
             \tmul.wide.u32 %o, %i0, 8;\n\tadd.s64 %out, %out, %o;\n\
             {body}\t{text}\n\tst.global.b{bits} [%out], d;\n\tret;\n}}\n"
        )
    }

    /// Units in the last place between two results: neighbouring numbers are 1 apart.
    pub fn distance(&self, a: u64, b: u64) -> u64 {
        if a == b {
            return 0;
        }
        // Magnitudes count upwards on either side of zero.
        let place = |bits: u64| {
            let sign = 1_i128 << (self.result.bits() - 1);
            let bits = i128::from(bits);
            if bits & sign == 0 { bits } else { sign - bits }
        };
        u64::try_from((place(a) - place(b)).unsigned_abs()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_one_and_its_values_are_all_tried() {
        let all = Instruction::list(include_str!("instructions.txt")).unwrap();
        assert!(all.len() > 150, "{}", all.len());
        let add = all.iter().find(|one| one.text.starts_with("add.rn.f32")).unwrap();
        let pairs: std::collections::HashSet<_> =
            add.inputs().chunks(3).map(|words| (words[0], words[1])).collect();
        assert!(pairs.len() > THREADS / 2, "{}", pairs.len());
        assert!(pairs.contains(&(0x7f80_0000, 0xff80_0000)) || pairs.len() > 1000);
        assert_eq!(add.distance(0x3f80_0000, 0x3f80_0001), 1);
        assert_eq!(add.distance(0x8000_0001, 1), 2);
        assert!(Instruction::list("b32 : add;").is_err());
    }
}
