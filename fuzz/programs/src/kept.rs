//! A program that is kept: its PTX, behind a line of what its twin stored.
//!
//! ```text
//! // 10.0: 1f a07… …
//! .version 9.0
//! ```

use std::fmt::Write;

pub struct Kept<'a> {
    pub capability: (u32, u32),
    /// What all kernels store, one behind the other.
    pub expected: Vec<u64>,
    pub ptx: &'a str,
}

impl<'a> Kept<'a> {
    /// Nothing if the text is none.
    pub fn read(text: &'a str) -> Option<Self> {
        let (head, ptx) = text.split_once('\n')?;
        let (capability, words) = head.strip_prefix("// ")?.split_once(": ")?;
        let (major, minor) = capability.split_once('.')?;
        let words = words.split(' ').map(|word| u64::from_str_radix(word, 16).ok());
        Some(Self {
            capability: (major.parse().ok()?, minor.parse().ok()?),
            expected: words.collect::<Option<_>>()?,
            ptx,
        })
    }

    pub fn write(&self) -> String {
        let (major, minor) = self.capability;
        let mut text = format!("// {major}.{minor}:");
        for word in &self.expected {
            let _ = write!(text, " {word:x}");
        }
        // The compiler's comments name paths and versions of the machine that it ran on.
        let lines = self.ptx.lines().filter(|line| !line.starts_with("//"));
        for line in lines {
            text.push('\n');
            text += line;
        }
        text.push('\n');
        text
    }
}
