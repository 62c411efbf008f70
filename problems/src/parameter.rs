//! One parameter of `solution`, and how it is written in C.

use serde::{Deserialize, Serialize};

use crate::formula::{Formula, FormulaError};
use crate::{Format, ManifestError, Scales, Sizes};

/// Which way the data of a parameter goes, seen from the solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// A device pointer that the solution reads.
    In,
    /// A device pointer that the solution writes, whole.
    Out,
    /// A value that belongs to the inputs, such as a global scale.
    Scalar,
    /// One of the sizes, as `size_t`.
    Size,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    F32,
    F16,
    U8,
    /// `size_t`; of sizes only.
    Usize,
}

impl Element {
    /// Width in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Element::U8 => 1,
            Element::F16 => 2,
            Element::F32 => 4,
            Element::Usize => 8,
        }
    }

    pub fn c_name(self) -> &'static str {
        match self {
            Element::F32 => "float",
            Element::F16 => "__half",
            Element::U8 => "uint8_t",
            Element::Usize => "size_t",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub direction: Direction,
    pub element: Element,
    /// Extents, outermost first; empty for scalars and sizes.
    pub shape: Vec<Formula>,
    /// What the elements mean.
    pub format: Format,
    /// Where the elements are codes: what scales them.
    pub scales: Option<Scales>,
    /// The size that counts the groups, where there is one of these for each: an array on the host of
    /// pointers to the device, or of sizes.
    pub each: Option<String>,
}

impl Parameter {
    /// Whether it is passed as a device pointer.
    pub fn is_buffer(&self) -> bool {
        matches!(self.direction, Direction::In | Direction::Out)
    }

    /// `const float*`, `uint8_t*`, `size_t`.
    pub fn c_type(&self) -> String {
        let element = self.element.c_name();
        let one = match self.direction {
            Direction::In => format!("const {element}*"),
            Direction::Out => format!("{element}*"),
            Direction::Scalar | Direction::Size => element.to_owned(),
        };
        match (&self.each, self.direction) {
            (None, _) => one,
            (Some(_), Direction::Size) => format!("const {one}*"),
            (Some(_), _) => format!("{one} const*"),
        }
    }

    /// How many there are at these sizes: one, or one for each group.
    pub fn count(&self, sizes: &Sizes) -> u64 {
        self.each.as_ref().map_or(1, |groups| sizes.get(groups).unwrap_or_default())
    }

    /// The sizes that each of them has.
    pub fn sizes_of_each(&self, sizes: &Sizes) -> Vec<Sizes> {
        match self.each {
            None => vec![sizes.clone()],
            Some(_) => (0..self.count(sizes)).map(|group| sizes.of_group(group)).collect(),
        }
    }

    /// Elements of the buffer at these sizes, its group's where there are groups; 1 for a scalar.
    ///
    /// # Errors
    /// A shape that these sizes do not fit: see [`Formula::evaluate`].
    pub fn len(&self, sizes: &Sizes) -> Result<u64, FormulaError> {
        self.shape.iter().try_fold(1u64, |len, extent| {
            len.checked_mul(extent.evaluate(sizes)?).ok_or_else(|| FormulaError::OutOfRange {
                formula: extent.to_string(),
                sizes: sizes.clone(),
            })
        })
    }
}

/// As `problem.toml` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawParameter {
    name: String,
    direction: Direction,
    #[serde(default = "size")]
    element: Element,
    #[serde(default)]
    shape: Vec<String>,
    format: Option<Format>,
    scales: Option<Scales>,
    each: Option<String>,
}

fn size() -> Element {
    Element::Usize
}

impl TryFrom<RawParameter> for Parameter {
    type Error = ManifestError;

    fn try_from(raw: RawParameter) -> Result<Parameter, ManifestError> {
        let fits = match raw.direction {
            Direction::In | Direction::Out => {
                raw.element != Element::Usize && !raw.shape.is_empty()
            }
            Direction::Scalar => raw.element == Element::F32 && raw.shape.is_empty(),
            Direction::Size => raw.element == Element::Usize && raw.shape.is_empty(),
        };
        let format = raw.format.unwrap_or(Format::of(raw.element));
        let fits = fits && (raw.each.is_none() || raw.direction != Direction::Scalar);
        if !fits || !format.fits(raw.element) && raw.direction != Direction::Size {
            return Err(ManifestError::Parameter { name: raw.name });
        }
        let shape = raw.shape.iter().map(|text| Formula::parse(text)).collect::<Result<_, _>>()?;
        let RawParameter { name, direction, element, scales, each, .. } = raw;
        Ok(Parameter { name, direction, element, shape, format, scales, each })
    }
}
