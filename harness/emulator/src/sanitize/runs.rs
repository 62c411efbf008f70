//! A warp's access as a few stretches of memory.
//!
//! ```text
//! s[threadIdx.x]          0 4 8 12 … 124            one run
//! s[threadIdx.x / 16]     0 0 0 … 4 4 4             two runs, of the same bytes each
//! s[threadIdx.x % 16]     0 4 8 … 60 0 4 8 … 60     two runs, the second of which needs no second look
//! s[threadIdx.x * 33]     0 132 264 …               32 runs
//! ```

/// Lanes whose bytes follow each other, or are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub lane: u32,
    pub lanes: u32,
    pub same: bool,
}

/// The runs of a mask's lanes, in order. A bit for each lane says how the next one goes on.
#[derive(Clone, Copy)]
pub struct Runs {
    left: u32,
    follows: u32,
    same: u32,
}

/// Lanes behind which the next one is so many bytes further. The last has none behind it.
#[inline(always)]
fn stepping(at: &[u32; 32], bytes: u32) -> u32 {
    let mut next = [0; 32];
    next[..31].copy_from_slice(&at[1..]);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        let mut found = 0u32;
        for k in 0..8 {
            // SAFETY: SSE2 is part of x86-64; the loads stay within the arrays.
            let four = unsafe {
                let from = |lanes: &[u32; 32]| _mm_loadu_si128(lanes.as_ptr().add(4 * k).cast());
                let step = _mm_sub_epi32(from(&next), from(at));
                let same = _mm_cmpeq_epi32(step, _mm_set1_epi32(bytes as i32));
                _mm_movemask_ps(_mm_castsi128_ps(same))
            };
            found |= (four as u32) << (4 * k);
        }
        found & u32::MAX >> 1
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let steps = |lane: &usize| next[*lane].wrapping_sub(at[*lane]) == bytes;
        (0..31).filter(steps).fold(0, |found, lane| found | 1 << lane)
    }
}

impl Runs {
    /// Those of all lanes, `bytes` each.
    #[inline(always)]
    pub fn of(at: &[u32; 32], bytes: u32) -> Self {
        Self { left: u32::MAX, follows: stepping(at, bytes), same: stepping(at, 0) }
    }

    /// Those of the lanes of `mask`.
    #[inline(always)]
    pub fn among(self, mask: u32) -> Self {
        let both = mask & mask >> 1;
        Self { left: mask, follows: self.follows & both, same: self.same & both }
    }
}

impl Iterator for Runs {
    type Item = Run;

    #[inline(always)]
    fn next(&mut self) -> Option<Run> {
        if self.left == 0 {
            return None;
        }
        let lane = self.left.trailing_zeros();
        if (self.follows | self.same) >> lane & 1 == 0 {
            self.left &= self.left - 1;
            return Some(Run { lane, lanes: 1, same: false });
        }
        let [follow, same] = [self.follows, self.same].map(|next| (next >> lane).trailing_ones());
        let lanes = 1 + follow.max(same);
        self.left &= !(((1u64 << lanes) - 1) << lane) as u32;
        Some(Run { lane, lanes, same: same > 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(at: impl Fn(u32) -> u32, mask: u32) -> Vec<(u32, u32, bool)> {
        let at = std::array::from_fn(|lane| at(lane as u32));
        Runs::of(&at, 4).among(mask).map(|run| (run.lane, run.lanes, run.same)).collect()
    }

    #[test]
    fn lanes_in_a_row_are_a_run() {
        assert_eq!(runs(|lane| 4 * lane, u32::MAX), [(0, 32, false)]);
        assert_eq!(runs(|lane| lane / 16, u32::MAX), [(0, 16, true), (16, 16, true)]);
        assert_eq!(runs(|lane| 4 * (lane % 16), u32::MAX), [(0, 16, false), (16, 16, false)]);
        assert_eq!(runs(|lane| 8 * lane, 0b1011), [(0, 1, false), (1, 1, false), (3, 1, false)]);
        assert_eq!(runs(|lane| 4 * lane, 0xf000_00f0), [(4, 4, false), (28, 4, false)]);
        assert_eq!(runs(|lane| lane.wrapping_sub(31).wrapping_mul(4), u32::MAX), [(0, 32, false)]);
        assert_eq!(runs(|_| 0, 0), []);
    }
}
