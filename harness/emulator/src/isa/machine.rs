//! What an instruction becomes in machine code, about.
//!
//! A PTX instruction is not a machine instruction: `add.s64` is two, `div.u32` some twenty, `mov` mostly
//! none. And machine instructions do not all go the same way: an SM issues four a cycle, but its integer
//! and logic unit takes two, its multiplier of integers two, its special functions one every two cycles.
//! [`Machine::of`] tells both from the instruction's name, so that a kernel can be held against each unit.
//!
//! The numbers come from what `ptxas` 13.0 makes of each instruction for sm_90a, and the rates of the
//! units from chains of them timed on an H200 (`harness/timing/calibration/kernels/pipes.cu`). Worked
//! example: seven comparisons that pick an FP4 code are seven `setp` and seven `selp`, fourteen for a
//! unit that takes two a cycle: 7 cycles. Measured: 6.4, where the issue of 14 would take 3.5.
//!
//! What is not known: `ptxas` joins logic of three operands into one, folds signs and magnitudes of floats
//! into their users and moves additions to the multiplier where it is idle. Those are averages here.

use serde::{Deserialize, Serialize};

use crate::exec::matrix::Multiply;

/// Of one execution by a warp. All but the latency in eighths of a machine instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Issue slots.
    pub slots: u16,
    /// Of those, for the integer and logic unit.
    pub logic: u16,
    /// For the multiplier of integers.
    pub multiplier: u16,
    /// For the special function unit.
    pub special: u16,
    /// For the unit of doubles.
    pub double: u16,
    /// For the tensor cores: products of 16 x 8 x 16 elements of 16 bits.
    pub tensor: u16,
    /// Cycles until another instruction can use the result; 0 where memory decides.
    pub latency: u16,
}

const ONE: u16 = 8;

impl Machine {
    /// What is counted of an instruction that nothing else is known of.
    pub const PLAIN: Self = Self {
        slots: ONE,
        logic: 0,
        multiplier: 0,
        special: 0,
        double: 0,
        tensor: 0,
        latency: LATENCY,
    };

    const fn logic(count: u16) -> Self {
        Self { slots: count, logic: count, ..Self::PLAIN }
    }

    const fn special(slots: u16, special: u16, latency: u16) -> Self {
        Self { slots, special, latency, ..Self::PLAIN }
    }

    /// Of the instruction with this name and these types.
    pub fn of(opcode: &str, modifiers: &[&str], types: &[&str]) -> Self {
        let has = |name: &str| modifiers.contains(&name);
        let of_type = types.last().copied().unwrap_or("b32");
        let wide = of_type.ends_with("64") && !of_type.starts_with('f');
        let (float, double) = (of_type == "f32", of_type == "f64");
        let words = if wide { 2 } else { 1 };
        match opcode {
            // Renaming, or folded into whoever uses it.
            "mov" | "cvta" | "createpolicy" | "isspacep" => {
                Self { slots: 0, latency: 0, ..Self::PLAIN }
            }
            "abs" | "neg" | "copysign" if !wide && of_type.starts_with('f') => {
                Self { slots: ONE / 4, latency: 0, ..Self::PLAIN }
            }
            "div" | "rem" if wide => Self {
                slots: 130 * ONE,
                logic: 40 * ONE,
                multiplier: 40 * ONE,
                special: 4 * ONE,
                latency: 400,
                ..Self::PLAIN
            },
            "div" if float && has("rn") => {
                Self { slots: 15 * ONE, logic: 3 * ONE, special: ONE, latency: 45, ..Self::PLAIN }
            }
            "div" if float => Self::special(4 * ONE, ONE, 30),
            "rcp" | "sqrt" | "rsqrt" if float && has("rn") => {
                Self { slots: 11 * ONE, logic: 3 * ONE, special: ONE, latency: 50, ..Self::PLAIN }
            }
            "div" | "rcp" | "sqrt" if double => Self {
                slots: 30 * ONE,
                special: ONE,
                double: 10 * ONE,
                latency: 200,
                ..Self::PLAIN
            },
            "div" | "rem" => Self {
                slots: 20 * ONE,
                logic: 5 * ONE,
                multiplier: 5 * ONE,
                special: 3 * ONE,
                latency: 140,
                ..Self::PLAIN
            },
            "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
                // Without .ftz, small arguments are scaled before and after.
                if has("ftz") || !float {
                    Self::special(ONE, ONE, 18)
                } else {
                    Self { logic: ONE, ..Self::special(3 * ONE, ONE, 27) }
                }
            }
            "popc" | "clz" | "bfind" | "brev" => Self::special(ONE * words, ONE * words, 14),
            _ if double => Self { slots: ONE, double: ONE, latency: 8, ..Self::PLAIN },
            "add" | "sub" | "fma" | "mul" | "mad"
                if of_type.starts_with('f') || of_type.starts_with("bf") =>
            {
                Self::PLAIN
            }
            "mul" | "mad" | "fma" if wide && has("wide") => Self { multiplier: ONE, ..Self::PLAIN },
            "mul" | "mad" if wide => Self {
                slots: 9 * ONE / 2,
                multiplier: 4 * ONE,
                logic: ONE,
                latency: 13,
                ..Self::PLAIN
            },
            "mul" | "mad" | "mul24" | "mad24" | "dp4a" | "dp2a" | "sad" => {
                Self { multiplier: ONE, ..Self::PLAIN }
            }
            // An addition goes to the logic unit or to the multiplier, whichever is idle.
            "add" | "sub" if wide => {
                Self { slots: 2 * ONE, logic: 3 * ONE / 2, latency: 8, ..Self::PLAIN }
            }
            "add" | "sub" | "addc" | "subc" => Self { logic: ONE / 2, ..Self::PLAIN },
            // Two of them are often one of three operands.
            "and" | "or" | "xor" | "not" => Self::logic(6 * words),
            "shl" if !wide => Self { slots: ONE, logic: ONE / 2, ..Self::PLAIN },
            "shl" | "shr" | "lop3" | "prmt" | "shf" | "fns" => Self::logic(ONE * words),
            "bfe" | "bfi" => Self { latency: 9, ..Self::logic(2 * ONE) },
            "setp" | "set" | "selp" | "slct" | "min" | "max" | "abs" | "neg" => {
                Self::logic(ONE * words)
            }
            "cvt" => Self::conversion(modifiers, types),
            "cvt.pack" => Self::logic(ONE),
            "shfl" => Self { latency: 24, ..Self::PLAIN },
            "vote" => Self { latency: 13, ..Self::logic(ONE) },
            "match" => Self { slots: 16 * ONE, latency: 200, ..Self::PLAIN },
            "redux" => Self::special(ONE, ONE, 40),
            "activemask" | "elect" => Self::PLAIN,
            "ld" | "ldu" | "atom" | "ldmatrix" | "wmma.load" => Self { latency: 0, ..Self::PLAIN },
            "st" | "red" | "prefetch" | "prefetchu" | "cp" => Self { latency: 0, ..Self::PLAIN },
            "bar" | "barrier" => Self { slots: ONE, latency: 20, ..Self::PLAIN },
            "mma" | "wmma" => Self { latency: 30, ..Self::PLAIN },
            _ => Self::PLAIN,
        }
    }

    /// This, which multiplies so many matrices.
    pub fn multiplying(self, form: &Multiply, products: usize) -> Self {
        // Elements of 16 bits; a small product takes no less than two thirds of a whole one.
        let whole = 16 * 16 * 16;
        let share = 8 * form.rows * form.depth * form.a.bits() / whole;
        let tensor = (products * share.max(6)) as u16;
        Self { tensor, slots: products as u16 * ONE, latency: 14 + 2 * share.min(8) as u16, ..self }
    }

    /// Of `cvt`, to the first type from the last.
    fn conversion(modifiers: &[&str], types: &[&str]) -> Self {
        let (to, from) = match types {
            [to, .., from] => (*to, *from),
            _ => return Self::PLAIN,
        };
        let float =
            |name: &str| name.starts_with('f') || name.starts_with("bf") || name.starts_with("tf");
        let small = |name: &str| name.starts_with('e') || name.starts_with("ue");
        let long = |name: &str| name.ends_with("64");
        match (float(to), float(from)) {
            // Bits that are cut or filled; of a byte's, often by whoever uses them.
            (false, false) if !small(to) && !small(from) => {
                Self { slots: ONE / 2, logic: ONE / 2, ..Self::PLAIN }
            }
            _ if small(to) || small(from) => {
                Self { slots: ONE, logic: 3 * ONE / 2, latency: 8, ..Self::PLAIN }
            }
            (true, true)
                if modifiers.iter().any(|name| {
                    name.starts_with("rni")
                        || name.starts_with("rzi")
                        || name.starts_with("rmi")
                        || name.starts_with("rpi")
                }) =>
            {
                Self::special(ONE, ONE, 14)
            }
            (true, true) if long(to) || long(from) => Self::special(ONE, ONE, 14),
            (true, true) => Self { slots: ONE, logic: ONE, latency: 6, ..Self::PLAIN },
            (true, false) if !long(from) && to == "f32" => Self::logic(ONE),
            _ => Self::special(ONE, ONE, 14),
        }
    }
}

/// From one instruction to the next that needs it.
const LATENCY: u16 = 5;
