//! What a solution prints: the beginning and the end are kept, a gigabyte between them is not.

use std::collections::VecDeque;

/// How the line begins that stands for what was left out.
const GAP: &str = "[… ";

/// Whether a log's text is the whole of what was printed.
pub fn is_whole(text: &str) -> bool {
    !text.lines().any(|line| line.starts_with(GAP) && line.ends_with(" bytes left out …]"))
}

#[derive(Debug, Default)]
pub struct Log {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes kept on either side.
    half: usize,
    dropped: u64,
}

impl Log {
    /// Keeps `bytes` in all.
    pub fn new(bytes: usize) -> Self {
        Self { half: bytes / 2, ..Self::default() }
    }

    pub fn extend(&mut self, mut bytes: &[u8]) {
        let room = (self.half - self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        bytes = &bytes[room..];
        // Only what can stay is copied, however much came.
        let skipped = bytes.len().saturating_sub(self.half);
        self.dropped += skipped as u64;
        bytes = &bytes[skipped..];
        let excess = (self.tail.len() + bytes.len()).saturating_sub(self.half);
        self.dropped += excess as u64;
        self.tail.drain(..excess);
        self.tail.extend(bytes);
    }

    /// As text; bytes that are no UTF-8 become U+FFFD.
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.dropped == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        format!(
            "{}\n{GAP}{} bytes left out …]\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped,
            String::from_utf8_lossy(&tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_logs_are_whole() {
        let mut log = Log::new(8);
        for piece in ["ab", "", "cdef", "gh"] {
            log.extend(piece.as_bytes());
        }
        assert_eq!(log.text(), "abcdefgh");
        assert!(is_whole(&log.text()));
    }

    #[test]
    fn long_logs_keep_both_ends() {
        let mut log = Log::new(8);
        for piece in ["abc", "defgh", "ijklmnopqrstuvw", "xyz"] {
            log.extend(piece.as_bytes());
        }
        assert_eq!(log.text(), "abcd\n[… 18 bytes left out …]\nwxyz");
        assert!(!is_whole(&log.text()));
        assert_eq!(log.head.len() + log.tail.len(), 8);
    }
}
