//! Modifiers that a handler looks at while it runs, as bits.

pub const FTZ: u32 = 1 << 0;
pub const SAT: u32 = 1 << 1;
pub const RZ: u32 = 1 << 2;
pub const RM: u32 = 1 << 3;
pub const RP: u32 = 1 << 4;
pub const NAN: u32 = 1 << 5;
pub const ABS: u32 = 1 << 6;
pub const XORSIGN: u32 = 1 << 7;
pub const RELU: u32 = 1 << 8;
pub const SATFINITE: u32 = 1 << 9;
/// The upper half.
pub const HI: u32 = 1 << 10;
/// A sum over the threads of a barrier.
pub const POPC: u32 = 1 << 11;
pub const ALL: u32 = 1 << 13;
pub const ANY: u32 = 1 << 14;
pub const BALLOT: u32 = 1 << 15;
/// A predicate operand is written with `!`.
pub const NOT: u32 = 1 << 16;
pub const SHIFTAMT: u32 = 1 << 17;
pub const ARRIVE: u32 = 1 << 18;
/// The old value of an atomic is wanted.
pub const KEEP: u32 = 1 << 19;
/// Of a load `.acquire`, of a store `.release`.
pub const ORDERED: u32 = 1 << 22;
/// Two elements of 64 bits are one of 128.
pub const PAIRED: u32 = 1 << 23;
/// Two bits: the memory space, as `exec::access` numbers them.
pub const SPACE_SHIFT: u32 = 20;

/// An atomic that adds floats.
pub const SUMS_FLOATS: u32 = 1 << 24;

/// An atomic whose address is the same in all lanes, as the program text shows, and whose old value nobody
/// wants.
pub const UNIFORM: u32 = 1 << 25;

/// Of a loop that waits for others: see `lower::polls`.
pub const POLLS: u32 = 1 << 27;

/// A load of what nobody writes meanwhile, `.nc`: it need not wait for stores.
pub const READ_ONLY: u32 = 1 << 26;

/// Of memory operations, what only counting looks at.
pub const COUNTING: u32 = SUMS_FLOATS | UNIFORM | POLLS | READ_ONLY;

/// The bit of a modifier; 0 for one that rows tell apart themselves.
pub fn named(modifier: &str) -> u32 {
    match modifier {
        "ftz" => FTZ,
        "sat" => SAT,
        "rz" | "rzi" => RZ,
        "rm" | "rmi" => RM,
        "rp" | "rpi" => RP,
        "NaN" => NAN,
        "abs" => ABS,
        "xorsign" => XORSIGN,
        "relu" => RELU,
        "satfinite" => SATFINITE,
        "all" => ALL,
        "any" => ANY,
        "ballot" => BALLOT,
        "shiftamt" => SHIFTAMT,
        "arrive" => ARRIVE,
        "hi" => HI,
        "popc" => POPC,
        _ => 0,
    }
}
