//! The instruction descriptor: 32 bits that say what one `tcgen05.mma` multiplies (PTX ISA 9.7.16.4.2).
//!
//! ```text
//!          f16, tf32, f8f6f4, i8         mxf8f6f4                mxf4, mxf4nvf4
//!  0-1     sparsity selector             0                       0
//!  2       sparse                        sparse                  sparse
//!  3       saturate (i8)                 0                       0
//!  4-5     D: 0 f16, 1 f32, 2 s32        byte of B's scales      byte of B's scales, 0 or 2
//!  7-9     A's type                      A's type                1: E2M1
//!  10-12   B's type                      B's type                1: E2M1
//!  13, 14  negate A, B                   the same                the same
//!  15, 16  A, B are M-, N-major          the same                0
//!  17-22   N / 8                         the same                the same
//!  23      0                             1: scales are UE8M0     1: UE8M0, 0: UE4M3
//!  24-28   M / 16                        M / 128 in 27-28        M / 128 in 27-28
//!  29-30   30-31: longest shift (.ws)    byte of A's scales      byte of A's scales, 0 or 2
//!  31                                    0                       K is 96 (sm_103a)
//!
//! 0x08400490: D f32, A and B bf16, both K-major, N = 0x20 · 8 = 256, M = 8 · 16 = 128
//! ```

use crate::exec::matrix::descriptor::Major;
use crate::exec::matrix::{Accumulator, Element, Multiply, Rule, Scale, ScaleFormat};

/// `.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F16 = 0,
    Tf32 = 1,
    F8f6f4 = 2,
    I8 = 3,
    Mxf8f6f4 = 4,
    Mxf4 = 5,
    Mxf4nvf4 = 6,
}

impl Kind {
    pub const ALL: [Self; 7] =
        [Self::F16, Self::Tf32, Self::F8f6f4, Self::I8, Self::Mxf8f6f4, Self::Mxf4, Self::Mxf4nvf4];

    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Tf32 => "tf32",
            Self::F8f6f4 => "f8f6f4",
            Self::I8 => "i8",
            Self::Mxf8f6f4 => "mxf8f6f4",
            Self::Mxf4 => "mxf4",
            Self::Mxf4nvf4 => "mxf4nvf4",
        }
    }

    pub fn is_scaled(self) -> bool {
        matches!(self, Self::Mxf8f6f4 | Self::Mxf4 | Self::Mxf4nvf4)
    }
}

/// What the instruction itself says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub kind: Kind,
    /// `.cta_group::2`.
    pub pair: bool,
    /// `.ws`.
    pub weight_stationary: bool,
    /// `.sp`.
    pub sparse: bool,
    /// Scales along K.
    pub vectors: usize,
}

/// A descriptor, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionDescriptor {
    /// Of a tile of 16 rows and 8 columns.
    pub tile: Multiply,
    pub m: u32,
    pub n: u32,
    pub negate: [bool; 2],
    pub major: [Major; 2],
    /// The first byte of A's and of B's scales.
    pub scale_byte: [u32; 2],
    /// Of the metadata of sparse A, the column (9.7.16.10.8.4).
    pub selector: u32,
}

fn field(bits: u32, first: u32, width: u32) -> u32 {
    bits >> first & ((1 << width) - 1)
}

impl InstructionDescriptor {
    /// # Errors
    /// The end of a sentence: what its fields say that the instruction cannot do.
    pub fn decode(bits: u32, form: Form) -> Result<Self, String> {
        let Form { kind, .. } = form;
        let refuse = |what: String| Err(format!("{bits:#010x} {what}"));
        let packed = matches!(kind, Kind::Mxf4 | Kind::Mxf4nvf4);
        // CUTLASS says of bit 2 that the packed kinds have no use for it, and sets it.
        match (field(bits, 2, 1) == 1, form.sparse) {
            (true, false) => {
                return refuse(
                    "says that A is sparse (bit 2), and the instruction is not .sp".into(),
                );
            }
            (false, true) if !packed => {
                return refuse("says that A is dense (bit 2), and the instruction is .sp".into());
            }
            _ => {}
        }
        let selector = match (form.sparse, kind) {
            (false, _) => 0,
            (true, Kind::F16 | Kind::Tf32) => field(bits, 0, 2),
            (true, Kind::F8f6f4 | Kind::I8) if field(bits, 0, 2) != 0 => {
                return refuse(format!(
                    "selects metadata (bits 0-1), of which .kind::{} takes all",
                    kind.name()
                ));
            }
            _ => 0,
        };
        if selector > 1 {
            return refuse(format!("selects metadata {selector} (bits 0-1); there are 0 and 1"));
        }
        let element = |name: &str, first: u32| {
            let code = field(bits, first, 3);
            element(kind, code).ok_or_else(|| {
                format!(
                    "{bits:#010x} gives {name} the type {code} (bits {first}-{}), which \
                     .kind::{} does not have",
                    first + 2,
                    kind.name()
                )
            })
        };
        let (a, b) = (element("A", 7)?, element("B", 10)?);
        let d = match (kind.is_scaled(), field(bits, 4, 2), kind) {
            (true, ..) | (_, 1, Kind::F16 | Kind::Tf32 | Kind::F8f6f4) => Accumulator::F32,
            (_, 0, Kind::F16 | Kind::F8f6f4) => Accumulator::F16,
            (_, 2, Kind::I8) => Accumulator::S32,
            (_, code, _) => {
                return refuse(format!(
                    "gives D the type {code} (bits 4-5), which .kind::{} does not have",
                    kind.name()
                ));
            }
        };
        if a == Element::F16 && b == Element::Bf16 || a == Element::Bf16 && b == Element::F16 {
            return refuse("multiplies f16 by bf16 (bits 7-12)".into());
        }
        if d == Accumulator::F16 && a == Element::Bf16 {
            return refuse("adds bf16 products up in f16 (bits 4-12)".into());
        }
        let m = if kind.is_scaled() { field(bits, 27, 2) * 128 } else { field(bits, 24, 5) * 16 };
        let n = field(bits, 17, 6) * 8;
        let of = |bit: u32| field(bits, bit, 1) == 1;
        let major = |bit: u32| if of(bit) { Major::Mn } else { Major::K };
        let out = Self {
            tile: Multiply {
                rows: 16,
                depth: if form.sparse { 512 } else { 256 } / a.bits(),
                a,
                b,
                c: d,
                d,
                scale: scale(bits, form)?,
                // As since Hopper: one fused step (measured by others on a B200, see `dot.rs`).
                rule: Rule { fraction: 25, halves: false, converted: false, kept: 23 },
                rounding: 0,
                saturate: kind == Kind::I8 && of(3),
                columns: [false; 2],
            },
            m,
            n,
            negate: [of(13), of(14)],
            major: [major(15), major(16)],
            scale_byte: match kind.is_scaled() {
                true => [field(bits, 29, 2), field(bits, 4, 2)],
                false => [0; 2],
            },
            selector,
        };
        if packed && (of(15) || of(16)) {
            return refuse(format!("transposes A or B (bits 15-16) in .kind::{}", kind.name()));
        }
        if packed && of(31) {
            return refuse("asks for K = 96 (bit 31), which only sm_103a has".into());
        }
        if packed && out.scale_byte.iter().any(|byte| byte % 2 == 1) {
            return refuse(format!(
                "takes scales from bytes {} and {} (bits 29-30, 4-5); .kind::{} takes 0 or 2",
                out.scale_byte[0],
                out.scale_byte[1],
                kind.name()
            ));
        }
        if kind == Kind::I8 && (of(13) || of(14)) {
            return refuse("negates A or B (bits 13-14) in .kind::i8".into());
        }
        match out.wrong_shape(form) {
            Some(what) => refuse(what),
            None => Ok(out),
        }
    }

    /// Why M and N are none of table 39's (9.7.16.2.1).
    fn wrong_shape(&self, form: Form) -> Option<String> {
        let Self { m, n, .. } = *self;
        let Form { kind, pair, weight_stationary, .. } = form;
        let rows: &[u32] = match (kind.is_scaled(), pair, weight_stationary) {
            (_, _, true) => &[32, 64, 128],
            (true, false, _) => &[128],
            (true, true, _) | (false, true, _) => &[128, 256],
            (false, false, _) => &[64, 128],
        };
        let bytes = self.major[1] == Major::Mn && self.tile.b.bits() == 8;
        let step = match (kind, pair) {
            (Kind::I8, true) => 32,
            (_, true) => {
                if bytes {
                    32
                } else {
                    16
                }
            }
            (Kind::I8, false) if n > 32 => 16,
            (_, false) if bytes => 16,
            _ => 8,
        };
        let columns = match weight_stationary {
            true => matches!(n, 64 | 128 | 256),
            false => (step..=256).contains(&n) && n % step == 0,
        };
        let group = if pair { 2 } else { 1 };
        let ws = if weight_stationary { ".ws" } else { "" };
        if !rows.contains(&m) {
            let all: Vec<_> = rows.iter().map(u32::to_string).collect();
            return Some(format!(
                "asks for M = {m} (bits 24-28); .kind::{}{ws} with .cta_group::{group} has {}",
                kind.name(),
                all.join(", ")
            ));
        }
        (!columns).then(|| match weight_stationary {
            true => format!("asks for N = {n} (bits 17-22); .ws has 64, 128, 256"),
            false => format!(
                "asks for N = {n} (bits 17-22); .kind::{} with .cta_group::{group} has multiples of \
                 {step} up to 256",
                kind.name()
            ),
        })
    }
}

fn element(kind: Kind, code: u32) -> Option<Element> {
    Some(match (kind, code) {
        (Kind::F16, 0) => Element::F16,
        (Kind::F16, 1) => Element::Bf16,
        (Kind::Tf32, 2) => Element::Tf32,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 0) => Element::E4m3,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 1) => Element::E5m2,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 3) => Element::E2m3,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 4) => Element::E3m2,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 5) => Element::E2m1,
        (Kind::I8, 0) => Element::U8,
        (Kind::I8, 1) => Element::S8,
        (Kind::Mxf4 | Kind::Mxf4nvf4, 1) => Element::PackedE2m1,
        _ => return None,
    })
}

/// Table 57: which scales go with which vectors.
fn scale(bits: u32, form: Form) -> Result<Option<Scale>, String> {
    let Form { kind, vectors, .. } = form;
    if !kind.is_scaled() {
        return Ok(None);
    }
    let format = if field(bits, 23, 1) == 1 { ScaleFormat::Ue8m0 } else { ScaleFormat::Ue4m3 };
    let fits = match kind {
        Kind::Mxf8f6f4 => vectors == 1 && format == ScaleFormat::Ue8m0,
        Kind::Mxf4 => vectors == 2 && format == ScaleFormat::Ue8m0,
        _ => vectors == 4 || vectors == 2 && format == ScaleFormat::Ue8m0,
    };
    match fits {
        true => Ok(Some(Scale { vectors, format })),
        false => Err(format!(
            "{bits:#010x} gives {vectors} scales a row the type {format:?} (bit 23), which .kind::{} \
             does not take",
            kind.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(kind: Kind, vectors: usize) -> Form {
        Form { kind, pair: false, weight_stationary: false, sparse: false, vectors }
    }

    /// What CUTLASS's `make_instr_desc` gives.
    #[test]
    fn descriptors_of_cutlass_are_read() {
        let read = |bits, kind, vectors| {
            InstructionDescriptor::decode(bits, form(kind, vectors)).expect("a descriptor")
        };
        let bf16 = read(0x0840_0490, Kind::F16, 0);
        assert_eq!((bf16.tile.a, bf16.m, bf16.n, bf16.tile.depth), (Element::Bf16, 128, 256, 16));
        let mx = read(0x08a0_0000, Kind::Mxf8f6f4, 1);
        assert_eq!((mx.tile.b, mx.m, mx.n, mx.tile.depth), (Element::E4m3, 128, 128, 32));
        let nv = read(0x0820_0480, Kind::Mxf4nvf4, 4);
        let scale = Some(Scale { vectors: 4, format: ScaleFormat::Ue4m3 });
        assert_eq!((nv.tile.scale, nv.tile.depth, nv.n), (scale, 64, 128));
        let mx4 = read(0x08a0_0480, Kind::Mxf4, 2);
        assert_eq!(mx4.tile.scale.map(|scale| scale.format), Some(ScaleFormat::Ue8m0));
    }

    #[test]
    fn what_no_instruction_does_is_named() {
        let refuses = |bits, kind, vectors, part: &str| {
            let said = InstructionDescriptor::decode(bits, form(kind, vectors));
            let said = said.expect_err("no descriptor");
            assert!(said.contains(part), "{said}");
        };
        refuses(0x0840_0494, Kind::F16, 0, "bit 2");
        refuses(0x0840_04a0, Kind::F16, 0, "bits 4-5");
        refuses(0x0840_0510, Kind::F16, 0, "bits 7-9");
        refuses(0x0840_0090, Kind::F16, 0, "f16 by bf16");
        refuses(0x0800_0490, Kind::F16, 0, "N = 0");
        refuses(0x0640_0490, Kind::F16, 0, "M = 96");
        refuses(0x0820_0480, Kind::Mxf4, 2, "Ue4m3");
        refuses(0x0820_0490, Kind::Mxf4nvf4, 4, "bytes 0 and 1");
        refuses(0x0842_2412, Kind::I8, 0, "bits 4-5");
    }

    #[test]
    fn both_say_whether_a_is_sparse() {
        let read = |bits, kind, vectors| {
            InstructionDescriptor::decode(bits, Form { sparse: true, ..form(kind, vectors) })
        };
        let bf16 = read(0x0840_0495, Kind::F16, 0).expect("a descriptor");
        assert_eq!((bf16.tile.depth, bf16.selector), (32, 1));
        assert!(read(0x0840_0490, Kind::F16, 0).is_err_and(|what| what.contains("dense")));
        assert!(read(0x0840_0496, Kind::F16, 0).is_err_and(|what| what.contains("metadata 2")));
        for bits in [0x0820_0480, 0x0820_0484] {
            let packed = read(bits, Kind::Mxf4nvf4, 4).expect("a descriptor");
            assert_eq!(packed.tile.depth, 128);
        }
    }
}
