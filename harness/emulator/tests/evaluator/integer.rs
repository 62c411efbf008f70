//! Integers, bits and shifts (PTX ISA 9.7.1, 9.7.2, 9.7.8): numbers of 128 bits, cut by the caller.

use super::ty::{Kind, Type, cut};

/// The result of `opcode` for operands that are registers or literals, as they are. `carry` is CC.CF.
pub fn integer(
    opcode: &str,
    modifiers: &[&str],
    ty: Type,
    args: &[u64],
    carry: &mut bool,
) -> Option<u64> {
    let has = |name: &str| modifiers.contains(&name);
    let bits = ty.bits;
    let raw = |n: usize| ty.cut(args[n]);
    let number = |n: usize| ty.number(args[n]);
    // Shift amounts, positions and lengths are of 32 bits whatever the type is.
    let amount = |n: usize| cut(args[n], 32);
    let clamped = |value: i128| {
        let value = if has("sat") { value.clamp(ty.least(), ty.greatest()) } else { value };
        value as u64
    };
    // With .cc the carry goes out, with addc and its like it comes in. After a subtraction it is that of
    // a + !b + 1, so 1 says that nothing was borrowed (measured on a card; the manual leaves it open).
    if opcode.ends_with('c') && matches!(opcode, "addc" | "subc" | "madc") || has("cc") {
        let product = product(ty, number(0), number(1), modifiers);
        let (a, b, fresh) = match opcode {
            "add" | "addc" => (raw(0), raw(1), 0),
            "sub" | "subc" => (raw(0), ty.cut(!args[1]), 1),
            _ => (ty.cut(product as u64), raw(2), 0),
        };
        let incoming = if opcode.ends_with('c') { u128::from(*carry) } else { fresh };
        let sum = u128::from(a) + u128::from(b) + incoming;
        if has("cc") {
            *carry = sum >> bits & 1 == 1;
        }
        return Some(sum as u64);
    }
    Some(match opcode {
        "add" => clamped(number(0) + number(1)),
        "sub" => clamped(number(0) - number(1)),
        "mul" => product(ty, number(0), number(1), modifiers) as u64,
        "mad" => {
            let product = product(ty, number(0), number(1), modifiers) as u64;
            product.wrapping_add(args[2])
        }
        "mul24" | "mad24" => {
            let narrow = Type { bits: 24, ..ty };
            let product = narrow.number(args[0]) * narrow.number(args[1]);
            let part = if has("hi") { product >> 16 } else { product };
            let addend = if opcode == "mad24" { number(2) } else { 0 };
            (part + addend) as u64
        }
        "sad" => ((number(0) - number(1)).abs() + number(2)) as u64,
        "div" if number(1) != 0 => (number(0) / number(1)) as u64,
        "rem" if number(1) != 0 => (number(0) % number(1)) as u64,
        "abs" => number(0).unsigned_abs() as u64,
        "neg" => (-number(0)) as u64,
        "min" => number(0).min(number(1)) as u64,
        "max" => number(0).max(number(1)) as u64,
        "and" => args[0] & args[1],
        "or" => args[0] | args[1],
        "xor" => args[0] ^ args[1],
        "not" => !args[0],
        "cnot" => u64::from(raw(0) == 0),
        "shl" if amount(1) >= u64::from(bits) => 0,
        "shl" => args[0] << amount(1),
        "shr" => (number(0) >> amount(1).min(u64::from(bits))) as u64,
        "shf" => {
            let by = if has("wrap") { amount(2) % 32 } else { amount(2).min(32) };
            let both = cut(args[1], 32) << 32 | cut(args[0], 32);
            if has("l") { ((u128::from(both) << by) >> 32) as u64 } else { both >> by }
        }
        "popc" => u64::from(raw(0).count_ones()),
        "clz" => u64::from(raw(0).leading_zeros() - (64 - bits)),
        "brev" => raw(0).reverse_bits() >> (64 - bits),
        "bfind" => {
            let flipped = if number(0) < 0 { ty.cut(!raw(0)) } else { raw(0) };
            match (flipped, has("shiftamt")) {
                (0, _) => u64::MAX,
                (value, true) => u64::from(value.leading_zeros() - (64 - bits)),
                (value, false) => u64::from(63 - value.leading_zeros()),
            }
        }
        "bfe" => extract(ty, raw(0), amount(1) & 0xff, amount(2) & 0xff),
        "bfi" => insert(bits, raw(0), raw(1), amount(2) & 0xff, amount(3) & 0xff),
        "prmt" => permute(args[0], args[1], args[2]),
        "lop3" => {
            let bit = |n: u64| {
                let index = (args[0] >> n & 1) << 2 | (args[1] >> n & 1) << 1 | args[2] >> n & 1;
                (args[3] >> index & 1) << n
            };
            (0..32).map(bit).sum()
        }
        _ => return None,
    })
}

/// `.lo`, `.hi` or `.wide` of a product.
fn product(ty: Type, a: i128, b: i128, modifiers: &[&str]) -> i128 {
    // Unsigned numbers of 64 bits fill all 128 bits of their product.
    let whole = a.wrapping_mul(b);
    match (modifiers.contains(&"hi"), ty.signed()) {
        (false, _) => whole,
        (true, true) => whole >> ty.bits,
        (true, false) => (whole as u128 >> ty.bits) as i128,
    }
}

/// The bits of `a` from `from` on; behind the end of `a` and of the field there is its sign.
fn extract(ty: Type, a: u64, from: u64, length: u64) -> u64 {
    let top = u64::from(ty.bits) - 1;
    let sign = match (ty.kind, length) {
        (Kind::Signed, 1..) => a >> (from + length - 1).min(top) & 1,
        _ => 0,
    };
    let bit = |n: u64| if n < length && from + n <= top { a >> (from + n) & 1 } else { sign };
    (0..=top).map(|n| bit(n) << n).sum()
}

/// `b` with the low bits of `a` at `from`.
fn insert(bits: u32, a: u64, b: u64, from: u64, length: u64) -> u64 {
    let inside = |n: u64| n >= from && n - from < length;
    let bit = |n: u64| if inside(n) { a >> (n - from) & 1 } else { b >> n & 1 };
    (0..u64::from(bits)).map(|n| bit(n) << n).sum()
}

/// Four bytes of eight, each by four bits of `selector`; the fourth of them takes the byte's sign.
fn permute(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = cut(b, 32) << 32 | cut(a, 32);
    let byte = |n: u64| {
        let choice = selector >> (4 * n);
        let byte = bytes >> (8 * (choice & 7)) & 0xff;
        let sign = if byte >> 7 == 1 { 0xff } else { 0 };
        (if choice & 8 != 0 { sign } else { byte }) << (8 * n)
    };
    (0..4).map(byte).sum()
}

/// `dp4a` and `dp2a` (PTX ISA 9.7.1.23-24): products of bytes with bytes, or of halves with two bytes.
pub fn dot(opcode: &str, modifiers: &[&str], types: &[Type], args: &[u64]) -> u64 {
    let part =
        |ty: Type, value: u64, bits: u32, n: u32| Type { bits, ..ty }.number(value >> (bits * n));
    let [a, b] = [types[0], types[1]];
    let products: i128 = if opcode == "dp4a" {
        (0..4).map(|n| part(a, args[0], 8, n) * part(b, args[1], 8, n)).sum()
    } else {
        let first = if modifiers.contains(&"hi") { 2 } else { 0 };
        (0..2).map(|n| part(a, args[0], 16, n) * part(b, args[1], 8, first + n)).sum()
    };
    (products as u64).wrapping_add(args[2])
}
