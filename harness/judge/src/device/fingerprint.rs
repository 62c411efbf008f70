//! What a GPU says of an output instead of sending it: see `fingerprint` in `cuda/kernels.ptx`.

/// Of `bytes`, whole 8-byte words that begin at word `first` of the buffer. Fingerprints of parts
/// add up to that of the whole.
pub fn fingerprint(bytes: &[u8], first: usize, key: u64) -> u64 {
    let word = |(index, bytes): (usize, &[u8; 8])| {
        let place = (first + index + 1) as u64;
        let x = place.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(key);
        let x = x ^ u64::from_le_bytes(*bytes);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    bytes.as_chunks().0.iter().enumerate().map(word).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_places_count() {
        let bytes: Vec<u8> = (0..64).collect();
        let whole = fingerprint(&bytes, 0, 7);
        let parts = fingerprint(&bytes[..24], 0, 7).wrapping_add(fingerprint(&bytes[24..], 3, 7));
        assert_eq!(whole, parts);
        assert_ne!(whole, fingerprint(&bytes, 0, 8));
        let mut swapped = bytes.clone();
        swapped.swap(0, 8);
        assert_ne!(whole, fingerprint(&swapped, 0, 7));
        assert_ne!(fingerprint(&[0; 8], 0, 7), fingerprint(&[0; 8], 1, 7));
    }
}
