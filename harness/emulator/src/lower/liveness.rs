//! Where a register's value matters: there is a way to an instruction that reads it, with none on it that
//! writes it. Found backwards, block by block, until nothing changes.

use super::{Block, Reg};

/// Registers whose values matter from one block to another. Most live within one: sets have a bit for
/// each of the others only.
pub struct Liveness {
    /// The registers that bits stand for.
    shared: Vec<Reg>,
    words: usize,
    /// For each block, `words` words.
    entry: Vec<u64>,
    exit: Vec<u64>,
}

impl Liveness {
    pub fn of(blocks: &[Block], count: usize) -> Self {
        let (shared, bits) = shared(blocks, count);
        let words = shared.len().div_ceil(64);
        let mut entry = vec![0u64; words * blocks.len()];
        let mut exit = entry.clone();
        let mut written = entry.clone();
        let place = |number: usize, reg: Reg| {
            let bit = bits[reg as usize] as usize;
            (bit < shared.len()).then_some((number * words + bit / 64, 1 << (bit % 64)))
        };
        for (number, block) in blocks.iter().enumerate() {
            let mut read = |reg: Reg, written: &[u64]| {
                if let Some((word, bit)) = place(number, reg) {
                    entry[word] |= bit & !written[word];
                }
            };
            for op in &block.ops {
                op.uses().for_each(|reg| read(reg, &written));
                op.defs()
                    .filter_map(|reg| place(number, reg))
                    .for_each(|(w, bit)| written[w] |= bit);
            }
            if let Some(reg) = block.end.uses() {
                read(reg, &written);
            }
        }
        let mut changed = words > 0;
        while changed {
            changed = false;
            for number in (0..blocks.len()).rev() {
                for target in blocks[number].end.targets() {
                    for word in 0..words {
                        let (here, there) = (number * words + word, target * words + word);
                        let more = exit[here] | entry[there];
                        if more != exit[here] {
                            exit[here] = more;
                            changed = true;
                            entry[here] |= more & !written[here];
                        }
                    }
                }
            }
        }
        Self { shared, words, entry, exit }
    }

    /// Registers whose values matter where a block begins.
    pub fn at_entry(&self, block: usize, f: impl FnMut(Reg)) {
        self.each(&self.entry, block, f);
    }

    /// Registers whose values matter behind a block.
    pub fn at_exit(&self, block: usize, f: impl FnMut(Reg)) {
        self.each(&self.exit, block, f);
    }

    /// The registers of a block's set.
    fn each(&self, sets: &[u64], block: usize, mut f: impl FnMut(Reg)) {
        for (index, &word) in sets[block * self.words..][..self.words].iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                f(self.shared[index * 64 + rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
        }
    }
}

/// Registers that some block reads before it writes them, and the place of each in that list; a place
/// behind its end for all others.
fn shared(blocks: &[Block], count: usize) -> (Vec<Reg>, Vec<u32>) {
    let mut shared = Vec::new();
    let mut places = vec![u32::MAX; count];
    // The block that wrote the register last, in the order of the text.
    let mut writer = vec![usize::MAX; count];
    for (number, block) in blocks.iter().enumerate() {
        let mut read = |reg: Reg, writer: &[usize]| {
            if writer[reg as usize] != number && places[reg as usize] == u32::MAX {
                places[reg as usize] = shared.len() as u32;
                shared.push(reg);
            }
        };
        for op in &block.ops {
            op.uses().for_each(|reg| read(reg, &writer));
            op.defs().for_each(|reg| writer[reg as usize] = number);
        }
        if let Some(reg) = block.end.uses() {
            read(reg, &writer);
        }
    }
    (shared, places)
}
