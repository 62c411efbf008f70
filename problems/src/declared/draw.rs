//! Inputs of problems without Rust: what each family is in each format.
//!
//! A family hunts for the same mistakes in every problem, so it can be drawn from the format alone.
//! Data of a narrow format fills its range; scales are around 1, but for `wide` and `special`.

use crate::declared::format::Format;
use crate::random::{Random, fill_chunks};
use crate::{Family, Seed};

/// The families that there are.
pub(crate) const FAMILIES: [Family; 8] = [
    Family::Uniform,
    Family::Normal,
    Family::Wide,
    Family::Exact,
    Family::Outliers,
    Family::OneHot,
    Family::Zeros,
    Family::Special,
];

/// Values that share a magnitude in `wide`, a fate in `zeros`.
const BLOCK: usize = 32;

/// Values of one chunk, about: long enough that starting a generator costs nothing.
const CHUNK: usize = 2048;

/// Fills a buffer whose rows have `columns` values; `number` is its place in the signature.
pub(crate) fn fill(
    (family, format): (Family, Format),
    seed: &Seed,
    number: u32,
    columns: usize,
    bytes: &mut [u8],
) {
    let row = (columns / format.values_per_element()).max(1) * width(format);
    let rows = (CHUNK / columns.max(1)).max(1);
    fill_chunks(seed, number, bytes, row * rows, |random, _, chunk| {
        for row in chunk.chunks_mut(row) {
            draw(random, family, format, row);
        }
    });
}

/// A scalar of the input.
pub(crate) fn scalar(family: Family, seed: &Seed, number: u32) -> f32 {
    let mut random = Random::new(seed, u64::from(number) << 32 | u64::from(u32::MAX));
    match family {
        Family::Exact | Family::OneHot => 1.0,
        Family::Wide | Family::Special => {
            (1.5 + 0.5 * random.uniform()) * 2f32.powi(random.between(-6, 6))
        }
        _ => 1.5 + 0.5 * random.uniform(),
    }
}

fn width(format: Format) -> usize {
    match format {
        Format::F32 => 4,
        Format::F16 => 2,
        _ => 1,
    }
}

fn draw(random: &mut Random, family: Family, format: Format, row: &mut [u8]) {
    if format == Format::U8 {
        return random.fill_bytes(row);
    }
    let count = row.len() / width(format) * format.values_per_element();
    if format.is_scale() {
        (0..count).for_each(|index| format.set(row, index, scale(random, family, format)));
        return;
    }
    let mut values = vec![0f32; count];
    match family {
        Family::Normal => random.fill_normal(&mut values),
        _ => random.fill_uniform(&mut values),
    }
    let (range, octaves) = range(format);
    match family {
        Family::Exact => values.iter_mut().for_each(|x| *x = (*x * 4.0).round() / range),
        Family::Wide => {
            for block in values.chunks_mut(BLOCK) {
                let magnitude = 2f32.powi(random.between(-octaves, 0));
                block.iter_mut().for_each(|x| *x *= magnitude);
            }
        }
        Family::Zeros => {
            for block in values.chunks_mut(BLOCK) {
                if random.below(2) == 0 {
                    block.iter_mut().for_each(|x| *x *= 0.0);
                }
            }
        }
        Family::Outliers => {
            // One in a row is alone in its size: often the very last, which tails forget.
            let last = count - 1;
            let place = [last, random.below(count as u32) as usize][random.below(2) as usize];
            values.iter_mut().for_each(|x| *x *= 0.125);
            values[place] = random.sign();
        }
        Family::OneHot => {
            let place = random.below(count as u32) as usize;
            let kept = if values[place] == 0.0 { 1.0 } else { values[place] };
            values.iter_mut().for_each(|x| *x *= 0.0);
            values[place] = kept;
        }
        Family::Special => {
            for x in &mut values {
                let ends = [0.0, -0.0, 1.0, -1.0, 2f32.powi(-octaves), 2f32.powi(1 - octaves)];
                *x = if random.below(4) == 0 { random.pick(&ends) } else { *x };
            }
        }
        _ => {}
    }
    values.iter().enumerate().for_each(|(index, x)| format.set(row, index, x * range));
}

/// What 1 becomes, and how many octaves of the format lie below it.
fn range(format: Format) -> (f32, i32) {
    match format {
        Format::F32 => (1.0, 30),
        Format::F16 => (1.0, 14),
        Format::E4m3 => (448.0, 16),
        _ => (6.0, 3),
    }
}

fn scale(random: &mut Random, family: Family, format: Format) -> f32 {
    let octaves = match (family, format) {
        (Family::Exact, _) => return 1.0,
        (Family::Zeros, Format::Ue4m3) if random.below(4) == 0 => return 0.0,
        (Family::Special, Format::Ue4m3) => {
            // The subnormal scales, and the largest.
            let eighth = random.below(7) as f32;
            return random.pick(&[(1.0 + eighth) / 512.0, 256.0 + 32.0 * eighth.min(6.0)]);
        }
        (Family::Wide, Format::Ue4m3) => 6,
        (Family::Wide, _) => 20,
        (Family::Special, _) => 40,
        _ => 1,
    };
    (1.0 + random.below(8) as f32 / 8.0) * 2f32.powi(random.between(-octaves, octaves - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(family: Family, format: Format) -> Vec<u8> {
        let mut bytes = vec![0; 64 * 128];
        fill((family, format), &[3; 32], 0, 64 * format.values_per_element(), &mut bytes);
        bytes
    }

    #[test]
    fn every_family_is_drawn_in_every_format_and_again_from_the_same_seed() {
        for family in FAMILIES {
            for format in [Format::F32, Format::F16, Format::E2m1, Format::E4m3, Format::Ue4m3] {
                let bytes = drawn(family, format);
                assert_eq!(bytes, drawn(family, format));
                let values = bytes.len() / width(format);
                let finite = (0..values).all(|index| format.value(&bytes, index).is_finite());
                assert!(finite, "{family} in {format:?}");
                assert!(bytes.iter().any(|&byte| byte != bytes[0]) || family == Family::Exact);
            }
        }
    }

    #[test]
    fn one_of_a_row_is_not_zero() {
        let bytes = drawn(Family::OneHot, Format::E2m1);
        for row in bytes.chunks(64) {
            let nonzero = (0..128).filter(|&at| Format::E2m1.value(row, at) != 0.0).count();
            assert!(nonzero <= 1, "{nonzero}");
        }
    }
}
