//! The container that nvcc embeds in a shared library: PTX and machine code for several targets.
//!
//! There is no specification; the layout below was read from the output of nvcc 13.0 in all its
//! `--compress-mode`s, where five different containers hold the same PTX byte for byte.
//!
//! ```text
//! wrapper  24 B   u32 0x466243b1, u32 version, pointer to the container, pointer
//! header   16 B   u32 0xba55ed50, u16 version, u16 header size, u64 bytes of all entries
//! entry    +0x00  u16 kind (1 PTX, 2 machine code)    +0x04  u32 size of this entry's header
//!          +0x08  u64 size as stored, padded to 8     +0x10  u32 size compressed, 0 if not
//!          +0x18  u16 minor, u16 major PTX version    +0x1c  u32 target (100)
//!          +0x28  u64 flags                           +0x38  u64 size before compression
//!          payload at the end of the entry's header; then the next entry
//! ```

use std::ffi::c_void;
use std::io::Read;

const WRAPPER_MAGIC: u32 = 0x4662_43b1;
const CONTAINER_MAGIC: u32 = 0xba55_ed50;
const CONTAINER_HEADER: usize = 16;
/// The fields read here end at 0x40; option lists and names may follow.
const ENTRY_HEADER: usize = 0x40;
const KIND_PTX: u16 = 1;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_ARCHITECTURE_SPECIFIC: u64 = 0x10_0000;
const FLAG_FAMILY_SPECIFIC: u64 = 0x20_0000;
/// More than any compiler writes, and little enough to refuse a container that decompresses
/// without end.
const LARGEST_TEXT: usize = 256 << 20;

/// One PTX text of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxImage {
    /// Major and minor compute capability: `(10, 0)` for `compute_100a`.
    pub capability: (u32, u32),
    /// `a` or `f` of the target, which then runs on that architecture or family only.
    pub suffix: Option<char>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FatbinError {
    #[error("the embedded device code does not begin like a fat binary")]
    Magic,
    #[error("the fat binary ends in the middle of {0}")]
    Truncated(&'static str),
    #[error("the PTX of the fat binary cannot be decompressed: {0}")]
    Compression(String),
    #[error("the PTX of the fat binary would be larger than 256 MiB")]
    TooLarge,
    #[error("the PTX of the fat binary is not text")]
    NotText,
    #[error(
        "the fat binary holds machine code only: compile with \
         -gencode arch=compute_X,code=compute_X, which embeds PTX"
    )]
    MachineCodeOnly,
}

/// All PTX texts of a container, in the order they stand there.
///
/// # Errors
///
/// Where the bytes are no container, are damaged, or hold no PTX.
pub fn read(container: &[u8]) -> Result<Vec<PtxImage>, FatbinError> {
    if u32_at(container, 0) != Some(CONTAINER_MAGIC) {
        return Err(FatbinError::Magic);
    }
    let truncated = FatbinError::Truncated;
    let header = u16_at(container, 6).ok_or(truncated("its header"))?;
    let length = u64_at(container, 8).ok_or(truncated("its header"))?;
    let mut rest = part(container, u64::from(header), length).ok_or(truncated("its entries"))?;
    let mut images = Vec::new();
    while !rest.is_empty() {
        let entry = Entry::read(rest).ok_or(truncated("an entry"))?;
        if entry.kind == KIND_PTX {
            images.push(entry.image()?);
        }
        rest = entry.rest;
    }
    if images.is_empty() { Err(FatbinError::MachineCodeOnly) } else { Ok(images) }
}

/// The PTX that a driver would pick for a device of this compute capability: the exact target, else
/// the newest that is older and not bound to another architecture. Where nothing fits, the first,
/// since the instructions then decide whether it runs.
pub fn select(images: &[PtxImage], capability: (u32, u32)) -> Option<&PtxImage> {
    let older = |image: &&PtxImage| image.suffix.is_none() && image.capability <= capability;
    let exact = images.iter().filter(|image| image.capability == capability);
    exact
        .max_by_key(|image| image.suffix == Some('a'))
        .or_else(|| images.iter().filter(older).max_by_key(|image| image.capability))
        .or_else(|| images.first())
}

/// The container behind the wrapper that `__cudaRegisterFatBinary` is given.
///
/// # Safety
///
/// `wrapper` must be null, or point to at least 24 readable bytes; if these begin with the magic
/// number, then the pointer in them must be null or that of a container as long as its header says.
pub unsafe fn container_of<'a>(wrapper: *const c_void) -> Result<&'a [u8], FatbinError> {
    if wrapper.is_null() {
        return Err(FatbinError::Magic);
    }
    // SAFETY: the caller promises 24 readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(wrapper.cast::<u8>(), 24) };
    if u32_at(bytes, 0) != Some(WRAPPER_MAGIC) {
        return Err(FatbinError::Magic);
    }
    // SAFETY: bytes 8 to 15 are inside the wrapper; the container's address stands there.
    let data = unsafe { wrapper.cast::<u8>().add(8).cast::<*const u8>().read_unaligned() };
    if data.is_null() {
        return Err(FatbinError::Magic);
    }
    // SAFETY: the caller promises a container.
    unsafe { container(data) }
}

/// The container in an image that a program loads: the wrapper's, or the image itself. `None` where
/// it is no fat binary.
///
/// # Safety
///
/// `image` must point to a wrapper as [`container_of`] wants it, to a container as long as its header
/// says, or to four bytes, those up to the first NUL, of something else.
pub unsafe fn container_at<'a>(image: *const c_void) -> Option<Result<&'a [u8], FatbinError>> {
    let mut magic = [0; 4];
    for (at, byte) in magic.iter_mut().enumerate() {
        // SAFETY: four bytes, or up to the NUL.
        *byte = unsafe { image.cast::<u8>().add(at).read() };
        if *byte == 0 {
            return None;
        }
    }
    match u32::from_le_bytes(magic) {
        // SAFETY: the caller's promise.
        WRAPPER_MAGIC => Some(unsafe { container_of(image) }),
        // SAFETY: the caller's promise.
        CONTAINER_MAGIC => Some(unsafe { container(image.cast()) }),
        _ => None,
    }
}

/// # Safety
///
/// `data` must point to a header's bytes; if these begin with the magic number, to a container as long
/// as the header says.
unsafe fn container<'a>(data: *const u8) -> Result<&'a [u8], FatbinError> {
    // SAFETY: the caller promises a header.
    let header = unsafe { std::slice::from_raw_parts(data, CONTAINER_HEADER) };
    let size = u64_at(header, 8).and_then(|length| {
        let total = length.checked_add(u64::from(u16_at(header, 6)?))?;
        isize::try_from(total).ok()
    });
    match (u32_at(header, 0), size) {
        // SAFETY: the caller promises that the container is as long as its header says.
        (Some(CONTAINER_MAGIC), Some(size)) => unsafe {
            Ok(std::slice::from_raw_parts(data, size as usize))
        },
        _ => Err(FatbinError::Magic),
    }
}

struct Entry<'a> {
    kind: u16,
    target: u32,
    flags: u64,
    /// Zero where the payload is stored as it is.
    compressed: usize,
    uncompressed: u64,
    /// Padded to a multiple of 8.
    payload: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Entry<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let header = u32_at(bytes, 4)? as usize;
        if header < ENTRY_HEADER {
            return None;
        }
        let stored = u64_at(bytes, 8)?;
        let payload = part(bytes, header as u64, stored)?;
        Some(Self {
            kind: u16_at(bytes, 0)?,
            target: u32_at(bytes, 0x1c)?,
            flags: u64_at(bytes, 0x28)?,
            compressed: u32_at(bytes, 0x10)? as usize,
            uncompressed: u64_at(bytes, 0x38)?,
            payload,
            rest: &bytes[header + payload.len()..],
        })
    }

    fn image(&self) -> Result<PtxImage, FatbinError> {
        let mut text = self.content()?;
        let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        text.truncate(end);
        let suffix = match self.flags {
            flags if flags & FLAG_ARCHITECTURE_SPECIFIC != 0 => Some('a'),
            flags if flags & FLAG_FAMILY_SPECIFIC != 0 => Some('f'),
            _ => None,
        };
        Ok(PtxImage {
            capability: (self.target / 10, self.target % 10),
            suffix,
            text: String::from_utf8(text).map_err(|_| FatbinError::NotText)?,
        })
    }

    fn content(&self) -> Result<Vec<u8>, FatbinError> {
        if self.compressed == 0 {
            return Ok(self.payload.to_vec());
        }
        let compressed =
            self.payload.get(..self.compressed).ok_or(FatbinError::Truncated("an entry"))?;
        let size = usize::try_from(self.uncompressed).unwrap_or(usize::MAX);
        if size > LARGEST_TEXT {
            return Err(FatbinError::TooLarge);
        }
        if self.flags & FLAG_ZSTD != 0 {
            zstd(compressed, size)
        } else if self.flags & FLAG_LZ4 != 0 {
            lz4_flex::block::decompress(compressed, size)
                .map_err(|error| FatbinError::Compression(error.to_string()))
        } else {
            let message = format!("flags {:#x} name no known method", self.flags);
            Err(FatbinError::Compression(message))
        }
    }
}

fn zstd(compressed: &[u8], size: usize) -> Result<Vec<u8>, FatbinError> {
    let damaged = |error: String| FatbinError::Compression(error);
    let mut text = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(compressed)
        .map_err(|error| damaged(error.to_string()))?
        .take(size as u64)
        .read_to_end(&mut text)
        .map_err(|error| damaged(error.to_string()))?;
    Ok(text)
}

fn part(bytes: &[u8], start: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    bytes.get(start..end)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
