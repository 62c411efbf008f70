//! What a right solution writes for somebody's own data.
//!
//! Sizes are not asked for: the shapes of the inputs tell them. `a` of 64 by 256 floats where the
//! manifest says `["m", "k"]` makes m 64 and k 256; 64 by 128 bytes where it says `["m", "k/2"]` do
//! too. Then every shape is held to the sizes found.

use thiserror::Error;

use crate::npy::Array;
use crate::parameter::Parameter;
use crate::{
    CaseSpec, Direction, Element, Family, FormulaError, ManifestError, Problem, ReferenceError,
    ReferenceKernels, ScalarValue, Sizes,
};

/// Named arrays and scalars, in any order.
#[derive(Clone, Debug, Default)]
pub struct OwnData {
    pub inputs: Vec<(String, Array)>,
    pub scalars: Vec<(String, f32)>,
}

/// The sizes that the inputs have, and the outputs in the signature's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub sizes: Sizes,
    pub outputs: Vec<(String, Array)>,
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum EvaluateError {
    #[error("{problem} has no {what} called `{name}`; it has {known}")]
    Unknown { problem: &'static str, what: &'static str, name: String, known: String },
    #[error("`{0}` is given twice")]
    Twice(String),
    /// `what` tells the element and the shape of an input.
    #[error("`{name}` is missing: {what}")]
    Missing { name: String, scalar: bool, what: String },
    #[error("`{name}` holds {given}; convert it to {wanted}")]
    Element { name: String, given: &'static str, wanted: &'static str },
    #[error("`{name}` is {given}; its shape must be {wanted}")]
    Shape { name: String, given: String, wanted: String },
    #[error("`{0}` has no elements")]
    Empty(String),
    #[error(transparent)]
    Formula(#[from] FormulaError),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Reference(#[from] ReferenceError),
}

impl Problem {
    /// What a right solution writes for these inputs. Where the hardware may round either way, it is
    /// one of the right answers.
    ///
    /// # Errors
    /// Inputs or scalars that are missing or too many, of another type or shape than the signature
    /// says, or whose sizes do not fit the problem.
    pub fn evaluate(
        &self,
        data: &OwnData,
        kernels: &dyn ReferenceKernels,
    ) -> Result<Evaluation, EvaluateError> {
        let names = data.inputs.iter().map(|(name, _)| name);
        self.refuse_unknown(Direction::In, "input", names)?;
        let names = data.scalars.iter().map(|(name, _)| name);
        self.refuse_unknown(Direction::Scalar, "scalar", names)?;
        let arrays = self.arrays(data)?;
        let sizes = self.sizes_of(&arrays)?;
        self.manifest().validate(&sizes)?;

        // Memory of the operating system's choice need not be aligned for floats; words are.
        let words: Vec<Vec<u64>> = arrays.iter().map(|(_, array)| aligned(&array.bytes)).collect();
        let inputs: Vec<&[u8]> = words
            .iter()
            .zip(&arrays)
            .map(|(words, (_, array))| &bytemuck::cast_slice(words)[..array.bytes.len()])
            .collect();
        let scalars = self.scalars(data, &sizes)?;
        let case = CaseSpec { sizes, family: Family::Uniform };
        let expected = self.expected(&case, &inputs, &scalars, kernels)?;

        let outputs = self.of(Direction::Out).zip(expected.outputs);
        let outputs = outputs.map(|(parameter, bytes)| {
            let shape = extents(parameter, &case.sizes)?;
            let array = Array { element: parameter.element, shape, bytes };
            Ok((parameter.name.clone(), array))
        });
        let outputs = outputs.collect::<Result<_, FormulaError>>()?;
        Ok(Evaluation { sizes: case.sizes, outputs })
    }

    fn of(&self, direction: Direction) -> impl Iterator<Item = &Parameter> {
        self.manifest().signature.iter().filter(move |p| p.direction == direction)
    }

    fn refuse_unknown<'n>(
        &self,
        direction: Direction,
        what: &'static str,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<(), EvaluateError> {
        let mut seen: Vec<&String> = Vec::new();
        for name in names {
            if !self.of(direction).any(|parameter| parameter.name == *name) {
                let known: Vec<&str> = self.of(direction).map(|p| p.name.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let name = name.clone();
                return Err(EvaluateError::Unknown { problem: self.name(), what, name, known });
            }
            if seen.contains(&name) {
                return Err(EvaluateError::Twice(name.clone()));
            }
            seen.push(name);
        }
        Ok(())
    }

    /// The inputs in the signature's order, of the right type and number of extents.
    fn arrays<'a>(
        &'a self,
        data: &'a OwnData,
    ) -> Result<Vec<(&'a Parameter, &'a Array)>, EvaluateError> {
        self.of(Direction::In)
            .map(|parameter| {
                let name = || parameter.name.clone();
                let found = data.inputs.iter().find(|(known, _)| *known == parameter.name);
                let wanted = parameter.element.numpy_name();
                let Some((_, array)) = found else {
                    let what = format!("an array of {wanted}, {}", shape(parameter));
                    return Err(EvaluateError::Missing { name: name(), scalar: false, what });
                };
                if array.element != parameter.element {
                    let given = array.element.numpy_name();
                    return Err(EvaluateError::Element { name: name(), given, wanted });
                }
                if array.shape.len() != parameter.shape.len() {
                    let given = numbers(&array.shape);
                    let wanted = shape(parameter);
                    return Err(EvaluateError::Shape { name: name(), given, wanted });
                }
                if array.shape.contains(&0) {
                    return Err(EvaluateError::Empty(name()));
                }
                Ok((parameter, array))
            })
            .collect()
    }

    /// Each size from the first extent that tells it; then every extent must agree.
    fn sizes_of(&self, arrays: &[(&Parameter, &Array)]) -> Result<Sizes, EvaluateError> {
        let told: Vec<(&str, u64)> = arrays
            .iter()
            .flat_map(|(parameter, array)| parameter.shape.iter().zip(&array.shape))
            .filter_map(|(formula, &extent)| formula.solve(extent))
            .collect();
        let size = |parameter: &Parameter| {
            let name = parameter.name.as_str();
            let value = told.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
            let what = "no input's shape tells it".to_owned();
            let missing = EvaluateError::Missing { name: name.to_owned(), scalar: true, what };
            Ok((name.to_owned(), value.ok_or(missing)?))
        };
        let sizes: Vec<_> =
            self.of(Direction::Size).map(size).collect::<Result<_, EvaluateError>>()?;
        let sizes = Sizes::new(sizes);
        for (parameter, array) in arrays {
            let wanted = extents(parameter, &sizes)?;
            if wanted != array.shape {
                return Err(EvaluateError::Shape {
                    name: parameter.name.clone(),
                    given: numbers(&array.shape),
                    wanted: format!("{}, here {}", shape(parameter), numbers(&wanted)),
                });
            }
        }
        Ok(sizes)
    }

    /// Every argument that is not a buffer, in the signature's order.
    fn scalars(&self, data: &OwnData, sizes: &Sizes) -> Result<Vec<ScalarValue>, EvaluateError> {
        let mut scalars = Vec::new();
        for Parameter { name, direction, .. } in &self.manifest().signature {
            match direction {
                Direction::In | Direction::Out => {}
                Direction::Size => scalars.extend(sizes.get(name).map(ScalarValue::Size)),
                Direction::Scalar => {
                    let found = data.scalars.iter().find(|(known, _)| known == name);
                    let missing = || EvaluateError::Missing {
                        name: name.clone(),
                        scalar: true,
                        what: "a number".to_owned(),
                    };
                    scalars.push(ScalarValue::F32(found.ok_or_else(missing)?.1));
                }
            }
        }
        Ok(scalars)
    }
}

fn aligned(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

fn extents(parameter: &Parameter, sizes: &Sizes) -> Result<Vec<u64>, FormulaError> {
    parameter.shape.iter().map(|formula| formula.evaluate(sizes)).collect()
}

/// `m x k/2`
fn shape(parameter: &Parameter) -> String {
    parameter.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ")
}

/// `64 x 128`
fn numbers(shape: &[u64]) -> String {
    match shape {
        [] => "a single number".to_owned(),
        _ => shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x "),
    }
}

/// The element types, as arrays call them, for error messages.
impl Element {
    pub fn numpy_name(self) -> &'static str {
        match self {
            Element::F32 => "float32",
            Element::F16 => "float16",
            Element::U8 => "uint8",
            Element::Usize => "uint64",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoKernels, npy};

    fn evaluate(
        problem: &str,
        inputs: &[(&str, Array)],
        scalars: &[(&str, f32)],
    ) -> Result<Evaluation, EvaluateError> {
        let own = |name: &&str| (*name).to_owned();
        let data = OwnData {
            inputs: inputs.iter().map(|(name, array)| (own(name), array.clone())).collect(),
            scalars: scalars.iter().map(|(name, value)| (own(name), *value)).collect(),
        };
        crate::find(problem).expect("it is there").evaluate(&data, &NoKernels)
    }

    #[test]
    fn every_problem_with_golden_inputs_gives_its_golden_outputs() {
        let a = npy::golden("mxfp4_quantize", "normal_x");
        let found = evaluate("mxfp4_quantize", &[("a", a)], &[]).expect("good data");
        assert_eq!(found.outputs[0].1, npy::golden("mxfp4_quantize", "normal_packed"));
        assert_eq!(found.outputs[1].1, npy::golden("mxfp4_quantize", "normal_scale"));
        assert_eq!(found.sizes, Sizes::new([("m", 64), ("k", 256)]));

        let golden = |name: &str| npy::golden("nvfp4_gemv", &format!("full_{name}"));
        let names = ["sfb_blocked", "a", "b", "sfa", "sfb", "sfa_blocked"];
        let inputs = names.map(|name| (name, golden(name)));
        let found = evaluate("nvfp4_gemv", &inputs, &[]).expect("good data");
        assert_eq!(found.outputs, [("c".to_owned(), golden("c"))]);

        let [q, scale] =
            ["normal_packed", "normal_scale"].map(|name| npy::golden("mxfp4_quantize", name));
        let inputs = [("q", q), ("scale", scale)];
        let found = evaluate("mxfp4_dequantize", &inputs, &[]).expect("good data");
        assert_eq!(found.outputs[0].1, npy::golden("mxfp4_quantize", "normal_dequant_f32"));

        // Every value is far from a tie, where either neighbour would be right.
        let a = npy::golden("nvfp4_quantize", "16x16_x_f16");
        let global = npy::golden("nvfp4_quantize", "16x16_global_sf").bytes;
        let global = f32::from_le_bytes(*global.first_chunk().expect("a float"));
        let scalars = [("sf_g", global)];
        let found = evaluate("nvfp4_quantize", &[("a", a)], &scalars).expect("good data");
        assert_eq!(found.outputs[0].1, npy::golden("nvfp4_quantize", "16x16_packed"));
        assert_eq!(found.outputs[1].1, npy::golden("nvfp4_quantize", "16x16_sf_swizzled"));
    }

    fn floats(shape: &[u64]) -> Array {
        let bytes = vec![0; 4 * shape.iter().product::<u64>() as usize];
        Array { element: Element::F32, shape: shape.to_vec(), bytes }
    }

    fn bytes(shape: &[u64]) -> Array {
        let bytes = vec![0; shape.iter().product::<u64>() as usize];
        Array { element: Element::U8, shape: shape.to_vec(), bytes }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let said = |problem: &str, inputs: &[(&str, Array)], scalars: &[(&str, f32)]| {
            evaluate(problem, inputs, scalars).unwrap_err().to_string()
        };
        let good = || floats(&[4, 64]);
        for (inputs, message) in [
            (vec![], "`a` is missing: an array of float32, m x k"),
            (vec![("x", good())], "mxfp4_quantize has no input called `x`; it has a"),
            (vec![("a", good()), ("a", good())], "`a` is given twice"),
            (vec![("a", bytes(&[4, 64]))], "`a` holds uint8; convert it to float32"),
            (vec![("a", floats(&[256]))], "`a` is 256; its shape must be m x k"),
            (vec![("a", floats(&[]))], "`a` is a single number; its shape must be m x k"),
            (vec![("a", floats(&[0, 64]))], "`a` has no elements"),
            (vec![("a", floats(&[4, 48]))], "`k/32`: 48 is not a multiple of 32 for 4x48"),
        ] {
            assert_eq!(said("mxfp4_quantize", &inputs, &[]), message);
        }
        let scalar = said("mxfp4_quantize", &[("a", good())], &[("sf_g", 1.0)]);
        assert_eq!(scalar, "mxfp4_quantize has no scalar called `sf_g`; it has none");

        let two = |scale| [("q", bytes(&[4, 32])), ("scale", scale)];
        assert_eq!(
            said("mxfp4_dequantize", &two(bytes(&[4, 3])), &[]),
            "`scale` is 4 x 3; its shape must be m x k/32, here 4 x 2"
        );
        let two = [("q", bytes(&[4, 32])), ("scale", bytes(&[128, 4]))];
        assert_eq!(said("nvfp4_dequantize", &two, &[]), "`sf_g` is missing: a number");
    }
}
