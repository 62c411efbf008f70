//! `printf` of kernels: the format is C's, the arguments lie packed in memory, each aligned to its size
//! (CUDA C++ Programming Guide, "Formatted Output").
//!
//! One conversion at a time is handed to the host's `snprintf`, so that widths, precisions and flags
//! mean what they mean in C.

use std::ffi::{CString, c_char, c_int, c_longlong};

/// Longest text of one conversion.
const LONGEST: usize = 4096;

/// What a conversion takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Argument {
    Int,
    Long,
    Double,
    String,
    Pointer,
}

impl Argument {
    fn bytes(self) -> usize {
        if self == Self::Int { 4 } else { 8 }
    }
}

/// A conversion taken apart: `%-8.3lld` is flags `-`, width 8, precision 3, length `ll`.
struct Conversion {
    /// As C wants it, the length replaced by that of the argument.
    text: CString,
    argument: Argument,
    /// `*` stands for a width, a precision, or both.
    stars: usize,
}

/// The text of `format`, and how many arguments it took. `string` reads a string at an address; what it cannot read is shown as such.
pub fn format(
    format: &[u8],
    arguments: impl Fn(usize, usize) -> Option<u64>,
    string: impl Fn(u64) -> Option<Vec<u8>>,
) -> (Vec<u8>, u64) {
    let mut out = Vec::new();
    let mut at = 0;
    let (mut offset, mut taken) = (0usize, 0);
    let mut next = |bytes: usize| {
        taken += 1;
        offset = offset.next_multiple_of(bytes);
        let value = arguments(offset, bytes);
        offset += bytes;
        value
    };
    while at < format.len() {
        if format[at] != b'%' {
            out.push(format[at]);
            at += 1;
            continue;
        }
        if format.get(at + 1) == Some(&b'%') {
            out.push(b'%');
            at += 2;
            continue;
        }
        let Some((conversion, length)) = conversion(&format[at..]) else {
            // What is no conversion is printed as it stands.
            out.push(b'%');
            at += 1;
            continue;
        };
        at += length;
        let stars: Option<Vec<c_int>> =
            (0..conversion.stars).map(|_| next(4).map(|value| value as c_int)).collect();
        let value = next(conversion.argument.bytes());
        let (Some(stars), Some(value)) = (stars, value) else {
            out.extend_from_slice(b"<no argument>");
            continue;
        };
        out.extend(convert(&conversion, &stars, value, &string));
    }
    (out, taken)
}

/// The conversion at the beginning of `text`, and its length there.
fn conversion(text: &[u8]) -> Option<(Conversion, usize)> {
    let mut at = 1;
    let mut stars = 0;
    while at < text.len() && b"-+ #0123456789.*".contains(&text[at]) {
        stars += usize::from(text[at] == b'*');
        at += 1;
    }
    let flags_end = at;
    while at < text.len() && b"hlLqjzt".contains(&text[at]) {
        at += 1;
    }
    let length = &text[flags_end..at];
    let kind = *text.get(at)?;
    // `long` has 64 bits on a GPU.
    let long = length.iter().any(|c| b"lqjzt".contains(c));
    let (argument, size) = match kind {
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' if long => (Argument::Long, "ll"),
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
            let size = match length {
                b"h" => "h",
                b"hh" => "hh",
                _ => "",
            };
            (Argument::Int, size)
        }
        b'c' => (Argument::Int, ""),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => (Argument::Double, ""),
        b's' => (Argument::String, ""),
        b'p' => (Argument::Pointer, ""),
        _ => return None,
    };
    let mut spelled = text[..flags_end].to_vec();
    spelled.extend_from_slice(size.as_bytes());
    spelled.push(kind);
    let stars = stars.min(2);
    Some((Conversion { text: CString::new(spelled).ok()?, argument, stars }, at + 1))
}

fn convert(
    conversion: &Conversion,
    stars: &[c_int],
    value: u64,
    string: impl Fn(u64) -> Option<Vec<u8>>,
) -> Vec<u8> {
    let mut buffer = vec![0u8; LONGEST];
    let to = buffer.as_mut_ptr().cast::<c_char>();
    let text = conversion.text.as_ptr();
    /// `snprintf` with the stars before the value.
    macro_rules! spell {
        ($value:expr) => {
            // SAFETY: the format has exactly these arguments, of these types, as `conversion` has
            // seen to; the buffer has `LONGEST` bytes.
            unsafe {
                match stars {
                    [] => libc::snprintf(to, LONGEST, text, $value),
                    [a] => libc::snprintf(to, LONGEST, text, *a, $value),
                    [a, b, ..] => libc::snprintf(to, LONGEST, text, *a, *b, $value),
                }
            }
        };
    }
    let length = match conversion.argument {
        Argument::Int => spell!(value as c_int),
        Argument::Long => spell!(value as c_longlong),
        Argument::Double => spell!(f64::from_bits(value)),
        Argument::Pointer => spell!(std::ptr::without_provenance::<u8>(value as usize)),
        Argument::String => match string(value).map(CString::new) {
            Some(Ok(text)) => spell!(text.as_ptr()),
            _ => return b"<no string>".to_vec(),
        },
    };
    buffer.truncate(usize::try_from(length).unwrap_or(0).min(LONGEST - 1));
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: &str, packed: &[u8]) -> String {
        let arguments = |offset: usize, bytes: usize| {
            let from = packed.get(offset..offset + bytes)?;
            let mut value = [0; 8];
            value[..bytes].copy_from_slice(from);
            Some(u64::from_le_bytes(value))
        };
        let (bytes, _) =
            format(of.as_bytes(), arguments, |at| (at == 7).then(|| b"seven".to_vec()));
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn arguments_are_aligned_to_their_size() {
        let mut packed = 5i32.to_le_bytes().to_vec();
        packed.extend([0; 4]);
        packed.extend(2.5f64.to_le_bytes());
        packed.extend((-3i32).to_le_bytes());
        assert_eq!(text("%d|%6.2f|%x\n", &packed), "5|  2.50|fffffffd\n");
    }

    #[test]
    fn lengths_stars_strings_and_nonsense() {
        let mut packed = 123_456_789_012i64.to_le_bytes().to_vec();
        packed.extend(7u64.to_le_bytes());
        assert_eq!(text("%lld %s%%", &packed), "123456789012 seven%");
        let packed: Vec<u8> = [6i32, 42].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(text("[%*d]", &packed), "[    42]");
        assert_eq!(text("%y %", &[]), "%y %");
        assert_eq!(text("%d %n", &[]), "<no argument> %n");
        assert_eq!(text("%s", &9u64.to_le_bytes()), "<no string>");
    }
}
