//! Which cells hold which sums (PTX ISA 9.7.16.10.5; drawn there, the formulas are those of CUTLASS's
//! `tmem_frg`).
//!
//! Rows of D lie in lanes, columns in columns. Where D has fewer rows than there are lanes, its columns are
//! dealt to the lanes that are left, in parts, or lanes stay empty:
//!
//! ```text
//! rows of a CTA                      lane of (m, n)                       column
//! 128                                m                                    n
//!  64   of one CTA                   32·(m / 16) + m mod 16, + 0 or 16    n
//!  64   .ws, or of a pair            m + 64·(n / half)                    n mod half, half = N / 2
//!  32   .ws                          m + 32·(n / quarter)                 n mod quarter, quarter = N / 4
//! ```
//!
//! All of them move 16 rows together, so a layout is a list of bands.

/// Sixteen lanes, and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// The first lane, and the row of the CTA's part that it holds.
    pub lane: u32,
    pub row: u32,
    /// The first column of D in these lanes, and how many there are.
    pub column: u32,
    pub columns: u32,
}

/// How a CTA's rows lie in its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows of the CTA.
    rows: u32,
    columns: u32,
    /// 64 rows in every other half of a warp's lanes, from this lane on.
    spread: Option<u32>,
}

impl Layout {
    /// For a CTA's `rows` of M; `spread` where 64 rows leave lanes empty, from lane 0 or 16 on.
    pub fn new(rows: u32, columns: u32, spread: Option<u32>) -> Self {
        Self { rows, columns, spread: spread.filter(|_| rows == 64) }
    }

    /// Columns of tensor memory that D takes.
    pub fn width(&self) -> u32 {
        self.columns / self.parts()
    }

    fn parts(&self) -> u32 {
        if self.spread.is_some() { 1 } else { 128 / self.rows }
    }

    pub fn bands(&self) -> impl Iterator<Item = Band> + use<> {
        let Self { rows, spread, .. } = *self;
        let (parts, width) = (self.parts(), self.width());
        (0..rows / 16 * parts).map(move |number| match spread {
            Some(first) => {
                Band { lane: 32 * number + first, row: 16 * number, column: 0, columns: width }
            }
            None => {
                let part = number / (rows / 16);
                let row = 16 * number % rows;
                Band { lane: 16 * number, row, column: part * width, columns: width }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane and column of an element, by the manual's tables.
    fn cells(layout: Layout) -> Vec<(u32, u32, u32, u32)> {
        let mut all = Vec::new();
        for band in layout.bands() {
            for row in 0..16 {
                for column in 0..band.columns {
                    all.push((band.row + row, band.column + column, band.lane + row, column));
                }
            }
        }
        all
    }

    fn holds(layout: Layout, lane: impl Fn(u32, u32) -> u32, column: impl Fn(u32) -> u32) {
        let cells = cells(layout);
        assert_eq!(cells.len() as u32, layout.rows * layout.columns);
        for (m, n, at, in_column) in cells {
            assert_eq!((at, in_column), (lane(m, n), column(n)), "({m}, {n})");
        }
    }

    #[test]
    fn elements_lie_where_the_tables_say() {
        holds(Layout::new(128, 40, None), |m, _| m, |n| n);
        holds(Layout::new(128, 40, Some(0)), |m, _| m, |n| n);
        holds(Layout::new(64, 24, Some(16)), |m, _| 32 * (m / 16) + m % 16 + 16, |n| n);
        holds(Layout::new(64, 64, None), |m, n| m + 64 * (n / 32), |n| n % 32);
        holds(Layout::new(32, 128, None), |m, n| m + 32 * (n / 32), |n| n % 32);
    }
}
