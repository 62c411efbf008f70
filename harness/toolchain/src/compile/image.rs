//! What is in a compiled solution: its PTX, and whether `solution` can be found by name.
//!
//! nvcc puts device code into the ELF section `.nv_fatbin`, container behind container (their
//! layout: [`ptx::fatbin`]). For a GPU the runtime library brings one of its own, with machine
//! code only, and it stands before the solution's.
//!
//! The PTX is taken from here rather than from nvcc's intermediate files because these are the bytes
//! that the runtime is given: line numbers in faults and facts speak of one text.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use ptx::fatbin::{self, FatbinError};

/// Why a library could not be read; all of them mean a compiler that this was not written for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    #[error("the library is not an ELF file: {0}")]
    NotElf(String),
    #[error("the library holds no device code")]
    NoDeviceCode,
    #[error(transparent)]
    Fatbin(#[from] FatbinError),
}

/// The parts of a library that matter before it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub ptx: String,
    /// `solution` is among the exported names.
    pub exports_solution: bool,
    /// `main` is.
    pub exports_main: bool,
}

impl Image {
    /// # Errors
    ///
    /// [`ImageError`] for anything but a library with PTX in it.
    pub fn read(library: &[u8]) -> Result<Self, ImageError> {
        let elf =
            object::File::parse(library).map_err(|error| ImageError::NotElf(error.to_string()))?;
        let section = elf.section_by_name(".nv_fatbin").ok_or(ImageError::NoDeviceCode)?;
        let data = section.data().map_err(|error| ImageError::NotElf(error.to_string()))?;
        let exports = |name| {
            elf.dynamic_symbols().any(|symbol| symbol.name() == Ok(name) && symbol.is_definition())
        };
        let (exports_solution, exports_main) = (exports("solution"), exports("main"));
        Ok(Self { ptx: ptx(data)?, exports_solution, exports_main })
    }
}

/// The first PTX of the section.
fn ptx(mut section: &[u8]) -> Result<String, FatbinError> {
    loop {
        match fatbin::read(section) {
            Ok(images) => {
                return images
                    .into_iter()
                    .next()
                    .map(|i| i.text)
                    .ok_or(FatbinError::MachineCodeOnly);
            }
            Err(FatbinError::MachineCodeOnly) => {}
            Err(error) => return Err(error),
        }
        section =
            behind(section).filter(|rest| !rest.is_empty()).ok_or(FatbinError::MachineCodeOnly)?;
    }
}

/// What follows the first container, whose header says how long both are.
fn behind(section: &[u8]) -> Option<&[u8]> {
    let header = u16::from_le_bytes(*section.get(6..)?.first_chunk()?);
    let entries = u64::from_le_bytes(*section.get(8..)?.first_chunk()?);
    section.get(usize::from(header).max(16)..)?.get(usize::try_from(entries).ok()?..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut section = 0xBA55_ED50_u32.to_le_bytes().to_vec();
        section.extend([1, 0, 16, 0]);
        section.extend((64 + payload.len() as u64).to_le_bytes());
        let mut entry = vec![0; 64];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[4..8].copy_from_slice(&64_u32.to_le_bytes());
        entry[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        section.extend(entry);
        section.extend(payload);
        section
    }

    #[test]
    fn ptx_is_found_behind_the_runtimes_machine_code() {
        let ours = section(1, b".version 9.0\n\0\0\0");
        let runtime = section(2, b"cubin\0\0\0");
        assert_eq!(ptx(&[runtime.clone(), ours].concat()).as_deref(), Ok(".version 9.0\n"));
        assert_eq!(ptx(&runtime), Err(FatbinError::MachineCodeOnly));
        assert_eq!(ptx(&[]), Err(FatbinError::Magic));
    }

    #[test]
    fn damage_is_an_error_wherever_it_is() {
        let whole = [section(2, b"cubin\0\0\0"), section(1, b"ptx\0\0\0\0\0")].concat();
        for length in 0..whole.len() {
            assert!(ptx(&whole[..length]).is_err(), "cut at {length}");
        }
        for at in 0..whole.len() {
            let mut section = whole.clone();
            section[at] ^= 0xFF;
            // Any answer but a panic or none.
            let _ = ptx(&section);
        }
        assert!(matches!(Image::read(b"not a library"), Err(ImageError::NotElf(_))));
    }
}
