//! The judge's own copy of a buffer.

/// Bytes aligned to 16, as the problems' typed views of them need.
#[derive(Clone, Debug)]
pub struct Bytes {
    words: Vec<u128>,
    len: usize,
}

impl Bytes {
    pub fn zeroed(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(16)], len }
    }

    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the words hold at least `len` initialized bytes, and any byte is a `u8`.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and any bytes are a `u128`.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.len) }
    }
}
