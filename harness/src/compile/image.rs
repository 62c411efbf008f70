//! What is in a compiled solution: its PTX, and whether `solution` can be found by name.
//!
//! nvcc puts device code into the section `.nv_fatbin`. Its layout is not documented; what is read
//! here is what nvcc 12.8 to 13.0 writes, and every number is checked against the section:
//!
//! ```text
//! container  +0 u32 0xBA55ED50   +4 u16 version 1   +6 u16 header bytes (16)   +8 u64 payload bytes
//! entry      +0 u16 kind: 1 PTX, 2 machine code     +4 u32 header bytes        +8 u64 payload bytes
//!            +16 u32 compressed bytes, 0 = stored   +28 u32 architecture (100 for sm_100a)
//! ```
//!
//! The PTX is taken from here rather than from nvcc's intermediate files because these are the bytes
//! that the runtime is given: line numbers in faults and facts speak of one text.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

/// Why a library could not be read; all of them mean a compiler that this was not written for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    #[error("the library is not an ELF file: {0}")]
    NotElf(String),
    #[error("the library holds no device code")]
    NoDeviceCode,
    #[error("the device code is damaged or of a layout not known here")]
    Damaged,
    #[error("the device code is compressed")]
    Compressed,
    #[error("the library holds machine code only, no PTX")]
    NoPtx,
}

/// The parts of a library that matter before it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub ptx: String,
    /// `solution` is among the exported names.
    pub exports_solution: bool,
}

impl Image {
    /// # Errors
    ///
    /// [`ImageError`] for anything but a library as nvcc links it with `-no-compress`.
    pub fn read(library: &[u8]) -> Result<Self, ImageError> {
        let file =
            object::File::parse(library).map_err(|error| ImageError::NotElf(error.to_string()))?;
        let section = file.section_by_name(".nv_fatbin").ok_or(ImageError::NoDeviceCode)?;
        let data = section.data().map_err(|_| ImageError::Damaged)?;
        let exports_solution = file
            .dynamic_symbols()
            .any(|symbol| symbol.name() == Ok("solution") && symbol.is_definition());
        Ok(Self { ptx: ptx(data)?, exports_solution })
    }
}

const MAGIC: u32 = 0xBA55_ED50;
const PTX: u16 = 1;

/// The first PTX of the section. For a GPU the runtime library brings a container of its own, with
/// machine code only; it stands before the solution's.
fn ptx(mut section: &[u8]) -> Result<String, ImageError> {
    while !section.is_empty() {
        let (container, rest) = container(section).ok_or(ImageError::Damaged)?;
        if let Some(ptx) = ptx_of(container)? {
            return Ok(ptx);
        }
        section = rest;
    }
    Err(ImageError::NoPtx)
}

/// The payload of the first container, and what follows it.
fn container(section: &[u8]) -> Option<(&[u8], &[u8])> {
    if u32_at(section, 0)? != MAGIC {
        return None;
    }
    split(section, u64::from(u16_at(section, 6)?), u64_at(section, 8)?)
}

fn ptx_of(mut container: &[u8]) -> Result<Option<String>, ImageError> {
    while !container.is_empty() {
        let header = u32_at(container, 4).ok_or(ImageError::Damaged)?;
        let stored = u64_at(container, 8).ok_or(ImageError::Damaged)?;
        let (entry, rest) =
            split(container, u64::from(header), stored).ok_or(ImageError::Damaged)?;
        if u16_at(container, 0) == Some(PTX) {
            if u32_at(container, 16) != Some(0) {
                return Err(ImageError::Compressed);
            }
            let end = entry.iter().position(|&byte| byte == 0).unwrap_or(entry.len());
            let text = String::from_utf8(entry[..end].to_vec());
            return text.map(Some).map_err(|_| ImageError::Damaged);
        }
        container = rest;
    }
    Ok(None)
}

/// `length` bytes behind a header, and what follows them. A header of no bytes would go round for
/// ever.
fn split(data: &[u8], header: u64, length: u64) -> Option<(&[u8], &[u8])> {
    let header = usize::try_from(header).ok().filter(|&header| header > 0)?;
    data.get(header..)?.split_at_checked(usize::try_from(length).ok()?)
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(data.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u16, payload: &[u8], compressed: u32) -> Vec<u8> {
        let mut entry = vec![0; 64];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[4..8].copy_from_slice(&64_u32.to_le_bytes());
        entry[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        entry[16..20].copy_from_slice(&compressed.to_le_bytes());
        entry.extend(payload);
        entry
    }

    fn section(entries: &[Vec<u8>]) -> Vec<u8> {
        let payload = entries.concat();
        let mut section = MAGIC.to_le_bytes().to_vec();
        section.extend([1, 0, 16, 0]);
        section.extend((payload.len() as u64).to_le_bytes());
        section.extend(payload);
        section
    }

    #[test]
    fn ptx_is_found_behind_machine_code() {
        let ours = [entry(2, b"cubin", 0), entry(PTX, b".version 9.0\n\0\0\0", 0)];
        assert_eq!(ptx(&section(&ours)).as_deref(), Ok(".version 9.0\n"));
        let behind = [section(&[entry(2, b"runtime", 0)]), section(&ours)].concat();
        assert_eq!(ptx(&behind).as_deref(), Ok(".version 9.0\n"));
    }

    #[test]
    fn damage_is_an_error_wherever_it_is() {
        let whole = section(&[entry(2, b"cubin", 0), entry(PTX, b"ptx\0", 0)]);
        for length in 0..whole.len() {
            assert!(ptx(&whole[..length]).is_err(), "cut at {length}");
        }
        for at in 0..whole.len() {
            let mut section = whole.clone();
            section[at] ^= 0xFF;
            // Any answer but a panic.
            let _ = ptx(&section);
        }
        assert_eq!(ptx(&section(&[entry(2, b"cubin", 0)])), Err(ImageError::NoPtx));
        assert_eq!(ptx(&section(&[entry(PTX, b"zz", 2)])), Err(ImageError::Compressed));
        assert!(matches!(Image::read(b"not a library"), Err(ImageError::NotElf(_))));
    }
}
