//! Which part of a matrix is wrong: in words, and drawn.
//!
//! Most faults of a kernel have a shape: rows that no block of threads reached, the last columns,
//! every odd element, one tile. Such a region is a set of rows times a set of columns, so counting
//! wrong elements by row and by column is enough to name it, and costs next to nothing.

/// Counts of the wrong elements of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct ErrorMap {
    total: u64,
    by_row: Vec<u32>,
    by_column: Vec<u32>,
    /// Wrong elements in each cell of the drawing, row-major.
    grid: Vec<u32>,
}

/// Extent of the drawing, at most.
const LINES: usize = 16;
const LETTERS: usize = 64;

/// What a letter of the drawing says of the elements it stands for.
const LEGEND: [(char, &str); 4] = [
    ('.', "right"),
    ('-', "under a tenth wrong"),
    ('+', "part wrong"),
    ('#', "over nine tenths wrong"),
];

impl ErrorMap {
    pub fn new(rows: usize, columns: usize) -> ErrorMap {
        ErrorMap {
            total: 0,
            by_row: vec![0; rows],
            by_column: vec![0; columns],
            grid: vec![0; LINES.min(rows) * LETTERS.min(columns)],
        }
    }

    pub fn add(&mut self, row: usize, column: usize) {
        self.total += 1;
        self.by_row[row] += 1;
        self.by_column[column] += 1;
        let (lines, letters) = self.drawn();
        let line = row * lines / self.by_row.len();
        self.grid[line * letters + column * letters / self.by_column.len()] += 1;
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// Of two maps of one matrix.
    pub fn merge(mut self, other: ErrorMap) -> ErrorMap {
        let add = |mine: &mut Vec<u32>, other: Vec<u32>| {
            mine.iter_mut().zip(other).for_each(|(mine, other)| *mine += other);
        };
        self.total += other.total;
        add(&mut self.by_row, other.by_row);
        add(&mut self.by_column, other.by_column);
        add(&mut self.grid, other.grid);
        self
    }

    fn drawn(&self) -> (usize, usize) {
        (LINES.min(self.by_row.len()), LETTERS.min(self.by_column.len()))
    }

    /// Forgets rows and columns with few wrong elements beside others with many.
    pub fn without_strays(mut self) -> ErrorMap {
        for counts in [&mut self.by_row, &mut self.by_column] {
            let few = counts.iter().max().unwrap_or(&0) / 8;
            counts.iter_mut().filter(|count| **count <= few).for_each(|count| *count = 0);
        }
        self
    }

    /// `every odd column of all 64 rows`
    pub fn sentence(&self) -> String {
        let rows = Hits::of(&self.by_row);
        let columns = Hits::of(&self.by_column);
        let region = rows.count * columns.count;
        let share = self.total as f64 / region.max(1) as f64;
        let rows = rows.describe("row");
        let columns = columns.describe("column");
        // An element can be right by chance, so a full region may have holes.
        if share > 0.9 {
            format!("{columns} of {rows}")
        } else {
            format!("{:.1} % of the elements in {columns} of {rows}", (share * 100.0).max(0.1))
        }
    }

    /// Which end of the rows or columns the region is, if it is one.
    pub fn region(&self) -> Region {
        let (rows, columns) = (Hits::of(&self.by_row).kind, Hits::of(&self.by_column).kind);
        match (rows, columns) {
            (Kind::All, Kind::All) => Region::Everywhere,
            (Kind::Last, Kind::All) => Region::LastRows,
            (Kind::First, Kind::All) => Region::FirstRows,
            (Kind::All, Kind::Last) => Region::LastColumns,
            (Kind::All, Kind::First) => Region::FirstColumns,
            (Kind::All, Kind::Odd) => Region::OddColumns,
            (Kind::All, Kind::Even) => Region::EvenColumns,
            _ => Region::Other,
        }
    }

    /// Sentence, drawing and what the drawing's letters mean, for a report.
    pub fn picture(&self) -> Vec<String> {
        let drawing = self.drawing();
        let occurs = |letter: char| drawing.iter().any(|line| line.contains(letter));
        let meanings: Vec<String> = LEGEND
            .iter()
            .filter(|(letter, _)| occurs(*letter))
            .map(|(letter, meaning)| format!("{letter} {meaning}"))
            .collect();
        // Where all is wrong, or right, the sentence has said it.
        let legend = (meanings.len() > 1).then(|| meanings.join("   "));
        [format!("wrong: {}", self.sentence())].into_iter().chain(drawing).chain(legend).collect()
    }

    /// The matrix seen from afar, in the letters of [`LEGEND`].
    pub fn drawing(&self) -> Vec<String> {
        let (lines, letters) = self.drawn();
        let (rows, columns) = (self.by_row.len(), self.by_column.len());
        // How many of `count` fall into cell `cell` of `cells`, by the same division as `add`.
        let extent = |cell: usize, cells: usize, count: usize| {
            ((cell + 1) * count).div_ceil(cells) - (cell * count).div_ceil(cells)
        };
        let letter = |line: usize, column: usize| {
            let wrong = self.grid[line * letters + column] as f64;
            let area = extent(line, lines, rows) * extent(column, letters, columns);
            match wrong / area.max(1) as f64 {
                0.0 => '.',
                share if share < 0.1 => '-',
                share if share < 0.9 => '+',
                _ => '#',
            }
        };
        (0..lines).map(|line| (0..letters).map(|column| letter(line, column)).collect()).collect()
    }
}

/// A region that has a name of its own in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    Everywhere,
    FirstRows,
    LastRows,
    FirstColumns,
    LastColumns,
    OddColumns,
    EvenColumns,
    Other,
}

/// The rows, or the columns, that hold anything wrong.
struct Hits {
    kind: Kind,
    count: usize,
    first: usize,
    last: usize,
    all: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    All,
    First,
    Last,
    Middle,
    Odd,
    Even,
    Some,
}

impl Hits {
    fn of(counts: &[u32]) -> Hits {
        let hit = |index: &usize| counts[*index] > 0;
        let all = counts.len();
        let count = (0..all).filter(hit).count();
        let first = (0..all).find(hit).unwrap_or(0);
        let last = (0..all).rfind(hit).unwrap_or(0);
        let contiguous = count == last + 1 - first;
        let parity = (0..all).filter(hit).all(|index| index % 2 == first % 2);
        let kind = if count == all {
            Kind::All
        } else if contiguous && first == 0 {
            Kind::First
        } else if contiguous && last + 1 == all {
            Kind::Last
        } else if contiguous {
            Kind::Middle
        } else if parity && count == all / 2 && first == 1 {
            Kind::Odd
        } else if parity && count == all.div_ceil(2) && first == 0 {
            Kind::Even
        } else {
            Kind::Some
        };
        Hits { kind, count, first, last, all }
    }

    /// `the last 32 columns`
    fn describe(&self, noun: &str) -> String {
        let Hits { count, first, last, all, .. } = self;
        let plural = if *count == 1 { "" } else { "s" };
        match self.kind {
            Kind::All if *all == 1 => format!("the only {noun}"),
            Kind::All => format!("all {all} {noun}s"),
            Kind::First if *count == 1 => format!("the first {noun}"),
            Kind::Last if *count == 1 => format!("the last {noun}"),
            Kind::First => format!("the first {count} {noun}{plural}"),
            Kind::Last => format!("the last {count} {noun}{plural}"),
            Kind::Middle if *count == 1 => format!("{noun} {first}"),
            Kind::Middle => format!("{noun}s {first} to {last}"),
            Kind::Odd => format!("every odd {noun}"),
            Kind::Even => format!("every even {noun}"),
            Kind::Some => format!("{count} of {all} {noun}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(wrong: impl Fn(usize, usize) -> bool) -> ErrorMap {
        let mut map = ErrorMap::new(40, 96);
        for row in 0..40 {
            (0..96).filter(|&column| wrong(row, column)).for_each(|column| map.add(row, column));
        }
        map
    }

    #[test]
    fn regions_are_named() {
        let cases: [(&str, Region, ErrorMap); 7] = [
            ("all 96 columns of all 40 rows", Region::Everywhere, map(|_, _| true)),
            ("all 96 columns of the last 8 rows", Region::LastRows, map(|row, _| row >= 32)),
            ("the last 32 columns of all 40 rows", Region::LastColumns, map(|_, c| c >= 64)),
            ("every odd column of all 40 rows", Region::OddColumns, map(|_, c| c % 2 == 1)),
            (
                "columns 32 to 63 of rows 8 to 15",
                Region::Other,
                map(|row, c| row / 8 == 1 && c / 32 == 1),
            ),
            ("column 5 of the first row", Region::Other, map(|row, c| row == 0 && c == 5)),
            (
                "10.0 % of the elements in all 96 columns of all 40 rows",
                Region::Everywhere,
                map(|row, c| (row * 7 + c) % 10 == 0),
            ),
        ];
        for (sentence, region, map) in cases {
            assert_eq!((map.sentence().as_str(), map.region()), (sentence, region));
        }
    }

    #[test]
    fn the_drawing_shows_them() {
        let map_of_half = map(|row, column| row >= 20 && column < 48);
        let legend = map_of_half.picture().pop();
        assert_eq!(legend.as_deref(), Some(". right   # over nine tenths wrong"));
        assert_eq!(map(|_, _| true).picture().last().unwrap(), &"#".repeat(LETTERS));
        let drawing = map_of_half.drawing();
        assert_eq!(drawing.len(), LINES);
        assert_eq!(drawing[7], ".".repeat(LETTERS));
        assert_eq!(drawing[8], "#".repeat(LETTERS / 2) + &".".repeat(LETTERS / 2));
        assert_eq!(
            map(|row, column| row == 0 && column == 0).drawing()[0].chars().next(),
            Some('+')
        );
    }
}
