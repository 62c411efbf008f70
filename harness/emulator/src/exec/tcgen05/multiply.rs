//! `tcgen05.mma`: what a thread asks for is checked whole, and queued (PTX ISA 9.7.16.10).

use super::instruction_descriptor::{Form, InstructionDescriptor, Kind};
use super::layout::Layout;
use super::memory::Address;
use super::operand::Operand;
use super::product::{Engine, Metadata, Part, Product, Rows, Scales};
use super::queue::{Columns, Operation, Queued};
use super::{Ranks, ask, descriptor, filled, illegal, outside_shared, owned, ranks, shared_of};
use crate::exec::bulk::{lanes, narrow, wide};
use crate::exec::matrix::descriptor::{Descriptor, Major, Swizzle};
use crate::exec::matrix::{Element, Fragments, Matrix, Multiply, Operands as Tile, multiply_add};
use crate::exec::{Core, Flow};
use crate::program::Inst;

/// In the flags: the [`Kind`] below, then these, and the scales along K from [`VECTORS`] on.
pub const PAIR: u32 = 1 << 3;
pub const WEIGHT_STATIONARY: u32 = 1 << 4;
/// A lies in tensor memory.
pub const FROM_TENSOR: u32 = 1 << 5;
/// A is sparse; where its metadata lie comes last in the list.
pub const SPARSE: u32 = 1 << 6;
pub const VECTORS: u32 = 8;

const SECTION: &str = "9.7.16.10";

/// K, as A's elements are stored; in tensor memory it takes so many columns. Of sparse A it is half of K.
const BYTES_OF_K: u32 = 32;
const WIDTH_OF_A: u32 = BYTES_OF_K / 4;

macro_rules! compiled {
    ($issue:ident, $multiply:ident, $widest:literal $(, $features:literal)?) => {
        /// `tcgen05.mma`. The list holds D, A, B, the instruction descriptor, whether D is added to, and scales
        /// or masks of lanes; `imm` is by how many powers of two D is divided.
        ///
        /// # Safety
        /// See [`crate::exec::Handler`].
        pub unsafe fn $issue(core: &mut Core, inst: &Inst) -> Flow {
            $(#[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))])?
            unsafe fn $multiply(
                fragments: &mut Option<Box<Fragments>>,
                form: &Multiply,
                operands: &Tile,
            ) {
                // SAFETY: passed on.
                unsafe { multiply_add::<$widest>(fragments, form, operands) }
            }
            // SAFETY: passed on; who chose this handler found the features.
            unsafe { issue(core, inst, $multiply) }
        }
    };
}
compiled!(multiply, on_any, false);
compiled!(multiply_wide, wide_one, false, "avx2,fma,bmi2,f16c,lzcnt,popcnt");
compiled!(
    multiply_widest,
    widest_one,
    true,
    "avx2,fma,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"
);

unsafe fn issue(core: &mut Core, inst: &Inst, engine: Engine) -> Flow {
    for lane in lanes(core.mask) {
        // SAFETY: passed on.
        if let Err(flow) = unsafe { one(core, inst, lane, engine) } {
            return flow;
        }
    }
    Flow::Next
}

/// Operands of one lane.
struct Operands {
    d: Address,
    /// A descriptor, or an address in tensor memory.
    a: u64,
    b: u64,
    descriptor: u32,
    accumulate: bool,
    scales: Option<[u32; 2]>,
    metadata: Option<Address>,
    disabled: [u128; 2],
}

impl Operands {
    /// # Safety
    /// The list must be one of `multiply`.
    unsafe fn read(core: &Core, inst: &Inst, lane: usize) -> Option<Self> {
        let &[d, a, b, descriptor, accumulate, ref rest @ ..] = core.list(inst) else {
            return None;
        };
        // SAFETY: lowering keeps slots within the file, and A and B are as wide as the flags say.
        unsafe {
            let (metadata, rest) = match rest {
                [rest @ .., metadata] if inst.flags & SPARSE != 0 => {
                    (Some(narrow(core, *metadata, lane).into()), rest)
                }
                rest => (None, rest),
            };
            let scaled = inst.flags >> VECTORS & 7 != 0;
            let mut disabled = [0u128; 2];
            if !scaled {
                for (index, &slot) in rest.iter().enumerate().take(8) {
                    let bits = u128::from(narrow(core, slot, lane));
                    disabled[index / 4] |= bits << (32 * (index % 4));
                }
            }
            Some(Self {
                d: narrow(core, d, lane).into(),
                a: match inst.flags & FROM_TENSOR != 0 {
                    true => narrow(core, a, lane).into(),
                    false => wide(core, a, lane),
                },
                b: wide(core, b, lane),
                descriptor: narrow(core, descriptor, lane),
                accumulate: core.predicate(accumulate) >> lane & 1 == 1,
                // CUTLASS leaves the number of the byte in the highest bits.
                scales: match rest {
                    &[a, b] if scaled => {
                        Some([a, b].map(|slot| narrow(core, slot, lane) & 0x3fff_ffff))
                    }
                    _ => None,
                },
                metadata,
                disabled,
            })
        }
    }
}

unsafe fn one(core: &mut Core, inst: &Inst, lane: usize, engine: Engine) -> Result<(), Flow> {
    // SAFETY: passed on.
    let Some(operands) = (unsafe { Operands::read(core, inst, lane) }) else { return Ok(()) };
    let form = Form {
        kind: Kind::ALL[(inst.flags & 7) as usize % Kind::ALL.len()],
        pair: inst.flags & PAIR != 0,
        weight_stationary: inst.flags & WEIGHT_STATIONARY != 0,
        sparse: inst.flags & SPARSE != 0,
        vectors: (inst.flags >> VECTORS & 7) as usize,
    };
    let Ranks { first, count } = ranks(core, form.pair)?;
    let said = InstructionDescriptor::decode(operands.descriptor, form).map_err(|what| {
        illegal(core, "9.7.16.4.2", &format!("has an instruction descriptor that is wrong: {what}"))
    })?;
    let rows = said.m / count;
    // Layouts F and C leave every other sixteen lanes empty (9.7.16.10.5).
    let half = rows == 64 && (!form.pair || form.sparse) && !form.weight_stationary;
    let spread = half.then_some(operands.d.lane);
    if operands.d.lane != 0 && spread != Some(16) {
        let message = format!(
            "writes sums to tensor memory from lane {} on; with M = {} it must be {}",
            operands.d.lane,
            said.m,
            if spread.is_some() { "0 or 16" } else { "0" }
        );
        return Err(illegal(core, SECTION, &message));
    }
    let d = operands.d.column;
    let layout = Layout::new(rows, said.n, spread);
    let a_in_shared = match inst.flags & FROM_TENSOR != 0 {
        true => None,
        false => Some(operand(core, operands.a, "A", (said.tile.a, said.major[0]))?),
    };
    let b = operand(core, operands.b, "B", (said.tile.b, said.major[1]))?;
    let scales = operands.scales.map(|[a, b]| Scales {
        a: Address::from(a).column,
        b: Address::from(b).column,
        halves: form.pair && rows == 64 && !form.sparse,
    });
    let metadata = match operands.metadata {
        Some(at) if at.lane != operands.d.lane => {
            let message = format!(
                "finds metadata in lane {} of tensor memory on and writes sums from lane {} on",
                at.lane, operands.d.lane
            );
            return Err(illegal(core, "9.7.16.10.8.5", &message));
        }
        Some(at) => Some(Metadata {
            column: at.column + said.selector,
            folded: matches!(form.kind, Kind::F16 | Kind::Tf32),
        }),
        None => None,
    };
    let mut parts = Vec::new();
    let mut columns = Vec::new();
    for rank in first..first + count {
        owned(core, SECTION, rank, "writes sums to", (d, layout.width()))?;
        let mut uses = |core: &mut Core, what: &str, first: u32, count: u32| {
            let does = format!("finds {what} in");
            owned(core, SECTION, rank, &does, (first, count))?;
            let used = Columns { rank, first, count, written: false };
            columns.push(used);
            filled(core, used, what)
        };
        if operands.accumulate {
            uses(core, "sums", d, layout.width())?;
        }
        if let Some(scales) = scales {
            let of_b = if scales.halves { said.n / 2 } else { said.n };
            uses(core, "scales of A", scales.a, rows.div_ceil(32))?;
            uses(core, "scales of B", scales.b, of_b.div_ceil(32))?;
        }
        if let Some(metadata) = metadata {
            uses(core, "metadata", metadata.column, metadata.width())?;
        }
        let a = match &a_in_shared {
            Some(a) => {
                let a = in_part(core, (operands.a, a), (&said, 0), (rank, rows))?;
                Rows::Shared(a)
            }
            None => {
                let at = Address::from(operands.a as u32);
                if at.lane != operands.d.lane {
                    let message = format!(
                        "reads A from lane {} of tensor memory on and writes sums from lane {} on",
                        at.lane, operands.d.lane
                    );
                    return Err(illegal(core, SECTION, &message));
                }
                uses(core, "A", at.column, WIDTH_OF_A)?;
                Rows::Tensor(at.column)
            }
        };
        columns.push(Columns { rank, first: d, count: layout.width(), written: true });
        let b = in_part(core, (operands.b, &b), (&said, 1), (rank, said.n / count))?;
        parts.push(Part { rank, a, b });
    }
    let mut pieces = Vec::new();
    if core.sanitizer.is_some()
        && let Some(own) = parts.iter().find(|part| part.rank == core.cluster_rank)
    {
        if let Rows::Shared(a) = &own.a {
            pieces.push(a.matrix.pieces(rows, BYTES_OF_K).collect());
        }
        let bytes = bytes_of_b(&said);
        pieces.push(own.b.matrix.pieces(said.n / count, bytes).collect());
    }
    let product = Product {
        engine,
        parts,
        layout,
        d,
        accumulate: operands.accumulate,
        scales,
        metadata,
        shift: inst.imm as u32,
        disabled: operands.disabled,
        descriptor: said,
    };
    let operation = Operation::Multiply(Box::new(product));
    let thread = (core.cluster_rank, core.warp, lane as u32);
    ask(core, Queued { operation, thread, columns, ip: 0 }, || pieces);
    Ok(())
}

/// K, as B's elements lie in shared memory: A's have the same bits there.
fn bytes_of_b(said: &InstructionDescriptor) -> u32 {
    (said.tile.depth * said.tile.a.bits()) as u32 / 8
}

/// A CTA's rows of A, or columns of B, all of them in its shared memory.
fn in_part(
    core: &mut Core,
    (bits, descriptor): (u64, &Descriptor),
    (said, side): (&InstructionDescriptor, usize),
    (rank, rows): (u32, u32),
) -> Result<Operand, Flow> {
    let element = [said.tile.a, said.tile.b][side];
    // What A stores, or all of K.
    let bytes =
        if side == 0 { BYTES_OF_K } else { (said.tile.depth * said.tile.a.bits()) as u32 / 8 };
    let (base, len) = shared_of(core, rank);
    let matrix = Matrix {
        descriptor: *descriptor,
        major: said.major[side],
        element: (element.bits() as u32 / 8).max(1),
        memory: std::ptr::with_exposed_provenance(base as usize),
        len,
    };
    match matrix.outside(rows, bytes) {
        Some(outside) => Err(outside_shared(core, bits, outside)),
        None => Ok(Operand { matrix, element, negate: said.negate[side] }),
    }
}

/// A descriptor of A or B, whose swizzle must suit the direction of the matrix (9.7.16.3).
fn operand(
    core: &mut Core,
    bits: u64,
    name: &str,
    (element, major): (Element, Major),
) -> Result<Descriptor, Flow> {
    let descriptor = descriptor(core, bits)?;
    let in_32 = descriptor.swizzle == Swizzle::B128In32;
    let what = match (major, element) {
        (Major::K, _) => return Ok(descriptor),
        (Major::Mn, Element::E2m1 | Element::E2m3 | Element::E3m2) => {
            return Err(core.unsupported("elements of four or six bits that are not K-major"));
        }
        (Major::Mn, Element::Tf32) if !in_32 => {
            "tf32 needs the swizzle of 128 bytes in atoms of 32"
        }
        (Major::Mn, Element::Tf32) => return Ok(descriptor),
        (Major::Mn, _) if in_32 => "the swizzle of 128 bytes in atoms of 32 is for tf32",
        (Major::Mn, _) => return Ok(descriptor),
    };
    let direction = if name == "A" { "M" } else { "N" };
    let message = format!(
        "has a matrix descriptor {bits:#018x} for {name}, which is {direction}-major: {what}"
    );
    Err(illegal(core, "9.7.16.3", &message))
}
