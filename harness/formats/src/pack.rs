//! Two FP4 codes in a byte: the even element in the low nibble.

/// `even` below, `odd` above. Only the low four bits of each count.
#[inline]
pub fn pair(even: u8, odd: u8) -> u8 {
    (even & 15) | (odd << 4)
}

/// The codes of a byte: (even, odd).
#[inline]
pub fn split(byte: u8) -> (u8, u8) {
    (byte & 15, byte >> 4)
}

/// Code of element `index` of packed `bytes`.
#[inline]
pub fn get(bytes: &[u8], index: usize) -> u8 {
    (bytes[index / 2] >> (4 * (index & 1))) & 15
}

/// Sets the code of element `index`, leaving its neighbour alone.
#[inline]
pub fn set(bytes: &mut [u8], index: usize, code: u8) {
    let shift = 4 * (index & 1);
    let byte = &mut bytes[index / 2];
    *byte = (*byte & !(15 << shift)) | ((code & 15) << shift);
}
