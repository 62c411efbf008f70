//! NumPy's array files, as far as problems need them: little-endian, C order, any shape.
//!
//! The format (NEP 1): `\x93NUMPY`, a version, the length of a header, the header (a Python literal
//! like `{'descr': '<f4', 'fortran_order': False, 'shape': (64, 256), }`), then the elements.

use thiserror::Error;

use crate::Element;

/// An array: its element type, its extents, its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub element: Element,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NpyError {
    #[error("not a NumPy array file; write one with `numpy.save`")]
    NotNumpy,
    #[error("elements of type `{0}`; use little-endian float32, float16 or uint8")]
    Element(String),
    #[error("Fortran order; save `numpy.ascontiguousarray(x)`")]
    FortranOrder,
    #[error("{bytes} bytes of data where the shape asks for {expected}; the file is damaged")]
    Length { bytes: u64, expected: u64 },
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// # Errors
/// Anything but a complete array of a type that problems use.
pub fn read(file: &[u8]) -> Result<Array, NpyError> {
    let rest = file.strip_prefix(MAGIC).ok_or(NpyError::NotNumpy)?;
    let (version, rest) = rest.split_at_checked(2).ok_or(NpyError::NotNumpy)?;
    // Version 1 has two bytes of length, versions 2 and 3 have four.
    let width = if version[0] == 1 { 2 } else { 4 };
    let (len, rest) = rest.split_at_checked(width).ok_or(NpyError::NotNumpy)?;
    let len = len.iter().rev().fold(0usize, |len, &byte| len << 8 | usize::from(byte));
    let (header, bytes) = rest.split_at_checked(len).ok_or(NpyError::NotNumpy)?;
    let header = str::from_utf8(header).map_err(|_| NpyError::NotNumpy)?;

    let descr = after(header, "'descr':").and_then(|text| text.split('\'').nth(1));
    let element = match descr.ok_or(NpyError::NotNumpy)? {
        "<f4" => Element::F32,
        "<f2" => Element::F16,
        "|u1" => Element::U8,
        other => return Err(NpyError::Element(other.to_owned())),
    };
    if after(header, "'fortran_order':").is_some_and(|text| text.trim_start().starts_with("True")) {
        return Err(NpyError::FortranOrder);
    }
    let extents = after(header, "'shape':")
        .and_then(|text| text.split_once('(')?.1.split_once(')'))
        .ok_or(NpyError::NotNumpy)?
        .0;
    let shape: Vec<u64> = extents
        .split(',')
        .map(str::trim)
        .filter(|extent| !extent.is_empty())
        .map(|extent| extent.parse().map_err(|_| NpyError::NotNumpy))
        .collect::<Result<_, _>>()?;
    let expected = shape
        .iter()
        .try_fold(element.bytes(), |len, &extent| len.checked_mul(extent))
        .ok_or(NpyError::NotNumpy)?;
    if bytes.len() as u64 != expected {
        return Err(NpyError::Length { bytes: bytes.len() as u64, expected });
    }
    Ok(Array { element, shape, bytes: bytes.to_vec() })
}

fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key).map(|(_, rest)| rest)
}

/// The file that `numpy.load` reads back as this array.
pub fn write(array: &Array) -> Vec<u8> {
    let descr = match array.element {
        Element::F32 => "<f4",
        Element::F16 => "<f2",
        Element::U8 => "|u1",
        Element::Usize => "<u8",
    };
    let extents: String = array.shape.iter().map(|extent| format!("{extent}, ")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", extents.trim());
    // The data starts at a multiple of 64 bytes; the header ends with a line feed.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(&array.bytes);
    file
}

/// A golden file of a problem, for tests.
#[cfg(test)]
pub(crate) fn golden(problem: &str, name: &str) -> Array {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(problem).join("golden");
    let file = std::fs::read(folder.join(name).with_extension("npy")).expect(name);
    read(&file).expect(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMPYS_OWN: &[u8] = include_bytes!("../mxfp4_quantize/golden/normal_x.npy");

    #[test]
    fn a_file_of_numpy_is_read_and_written_back() {
        let array = read(NUMPYS_OWN).expect("a good file");
        assert_eq!((array.element, array.shape.as_slice()), (Element::F32, &[64, 256][..]));
        assert_eq!(read(&write(&array)), Ok(array));
        let vector = Array { element: Element::U8, shape: vec![3], bytes: vec![1, 2, 3] };
        assert!(write(&vector).windows(4).any(|text| text == b"(3,)"));
        assert_eq!(write(&vector).len(), 128 + 3);
    }

    #[test]
    fn damage_is_an_error_wherever_the_file_ends() {
        for len in 0..NUMPYS_OWN.len().min(300) {
            assert!(read(&NUMPYS_OWN[..len]).is_err(), "{len}");
        }
        let double = String::from_utf8_lossy(&NUMPYS_OWN[10..60]).replace("<f4", "<f8");
        let mut file = NUMPYS_OWN.to_vec();
        file.splice(10..10 + double.len(), double.into_bytes());
        assert_eq!(read(&file), Err(NpyError::Element("<f8".to_owned())));
    }
}
