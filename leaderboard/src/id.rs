//! The name of an attempt, and of its folder: `20260812-143015-k7f2qa`.
//!
//! The first half is the moment in UTC, so that `ls`, git and a file manager all show attempts in
//! time. The second half, the tail, is random. Everything recorded this year begins alike, so a
//! prefix of the whole id would never be short; the tail is what people type. It begins with a
//! letter and the date with a digit: what was typed can only be a prefix of one of the two.

use std::fmt;

use jiff::{Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// Crockford's base 32, without i, l, o and u: no two look alike, in any font.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LETTERS: u64 = 22;
const TAIL: usize = 6;
const DATE: usize = "20260812-143015-".len();

/// Sortable to the second; [`crate::Attempt::created`] orders attempts within one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AttemptId(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an attempt's id; one looks like 20260812-143015-k7f2qa")]
pub struct NotAnId(pub String);

impl AttemptId {
    /// The id of an attempt made at `created`. Of `random`, 29 bits count: within one second, two
    /// of a thousand attempts share a tail once in a thousand times, and the store then draws again.
    pub fn new(created: Timestamp, random: u64) -> Self {
        let utc = created.to_zoned(TimeZone::UTC);
        let id = format!(
            "{:04}{:02}{:02}-{:02}{:02}{:02}-",
            utc.year().unsigned_abs(),
            utc.month(),
            utc.day(),
            utc.hour(),
            utc.minute(),
            utc.second(),
        );
        Self(id + &tail(random))
    }

    /// The same moment with another tail.
    pub(crate) fn with_tail(&self, random: u64) -> Self {
        Self(self.0[..DATE].to_owned() + &tail(random))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The random half: `k7f2qa`.
    pub fn tail(&self) -> &str {
        &self.0[DATE..]
    }

    /// Whether `typed` is a beginning of the whole id or of its tail.
    pub fn starts_with(&self, typed: &str) -> bool {
        self.0.starts_with(typed) || self.tail().starts_with(typed)
    }
}

/// Six characters, the first of them a letter.
fn tail(random: u64) -> String {
    let digits = ALPHABET.len() as u64;
    let first = ALPHABET[(digits - LETTERS + random % LETTERS) as usize];
    let mut tail = String::from(char::from(first));
    let mut rest = random / LETTERS;
    for _ in 1..TAIL {
        tail.push(char::from(ALPHABET[(rest % digits) as usize]));
        rest /= digits;
    }
    tail
}

impl TryFrom<String> for AttemptId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        let shaped = text.len() == DATE + TAIL
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 15 => byte == b'-',
                DATE => ALPHABET[(32 - LETTERS as usize)..].contains(&byte),
                0..DATE => byte.is_ascii_digit(),
                _ => ALPHABET.contains(&byte),
            });
        if shaped { Ok(Self(text)) } else { Err(NotAnId(text)) }
    }
}

impl std::str::FromStr for AttemptId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        Self::try_from(text.to_owned())
    }
}

impl From<AttemptId> for String {
    fn from(id: AttemptId) -> String {
        id.0
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_when_and_reads_back() {
        let created: Timestamp = "2026-08-12T16:30:15.123+02:00".parse().unwrap();
        for random in [0, 1, 21, 22, 12_345_678_901, u64::MAX] {
            let id = AttemptId::new(created, random);
            assert!(id.as_str().starts_with("20260812-143015-"), "{id}");
            assert!(id.tail().as_bytes()[0].is_ascii_lowercase(), "{id}");
            assert_eq!(id.as_str().parse(), Ok(id));
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            "20260812-143015",
            "20260812-143015-17f2qa",
            "20260812-143015-k7f2q",
            "20260812-143015-k7f2qi",
            "20260812_143015-k7f2qa",
            "2026081x-143015-k7f2qa",
            "20260812-143015-k7f2qä",
            ".incoming",
        ] {
            assert!(text.parse::<AttemptId>().is_err(), "{text}");
        }
    }

    #[test]
    fn both_halves_can_be_typed() {
        let id: AttemptId = "20260812-143015-k7f2qa".parse().unwrap();
        assert!(id.starts_with("k7") && id.starts_with("20260812-14") && id.starts_with(""));
        assert!(!id.starts_with("7f") && !id.starts_with("143015"));
    }
}
