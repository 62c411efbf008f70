//! `problem.toml`: the facts of a problem that are not code.

use serde::Deserialize;
use thiserror::Error;

use crate::formula::{Formula, FormulaError};
use crate::fresh::{Fresh, Range};
use crate::mixing::{MixingRule, RawMixing};
use crate::parameter::{Direction, Parameter, RawParameter};
use crate::sizes::entry;
use crate::{CaseSpec, Family, KnownBug, Sizes};

#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// One line for lists: "MXFP4 quantization".
    pub title: String,
    /// Where the problem comes from, and what its truth is.
    pub origin: String,
    /// Counts up whenever an old solution's verdict or time could change; boards are per revision.
    pub revision: u32,
    /// What solutions are compiled for unless they say otherwise: "sm_100a".
    pub arch: String,
    /// The parameters of `solution`, in order.
    pub signature: Vec<Parameter>,
    /// What `check` runs, in order.
    pub check: Vec<CaseGroup>,
    /// What `check` runs beside that: sizes that nobody can list.
    pub fresh: Option<Fresh>,
    /// What `bench` times.
    pub bench: CaseGroup,
    pub tolerance: Tolerance,
    pub speed_of_light: SpeedOfLight,
    /// Absent where every part of an output depends on all of the inputs.
    pub mixing: Option<MixingRule>,
    /// What a reference without Rust can do wrong on demand.
    pub known_bugs: Vec<KnownBug>,
}

/// Every size with every family.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseGroup {
    pub sizes: Vec<Sizes>,
    pub families: Vec<Family>,
}

impl CaseGroup {
    pub fn cases(&self) -> impl Iterator<Item = CaseSpec> {
        self.sizes.iter().flat_map(|sizes| {
            self.families.iter().map(|&family| CaseSpec { sizes: sizes.clone(), family })
        })
    }
}

/// What counts as equal. The derivation stands in `spec.md`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// The largest error of a right answer, in `unit`.
    pub bound: f64,
    /// What errors are measured in: "the block's scale".
    pub unit: String,
}

/// What the hardware cannot avoid: bytes that must move, operations that must be done.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedOfLight {
    pub bytes: Formula,
    pub flops: Formula,
    /// The size that counts the groups, where the formulas are for one of them.
    pub each: Option<String>,
}

impl SpeedOfLight {
    /// The formula's sum over the groups, or its value where there are none.
    ///
    /// # Errors
    /// Sizes that the formula does not fit.
    pub fn total(&self, formula: &Formula, sizes: &Sizes) -> Result<u64, FormulaError> {
        let Some(groups) = &self.each else { return formula.evaluate(sizes) };
        let groups = 0..sizes.get(groups).unwrap_or_default();
        groups.map(|group| formula.evaluate(&sizes.of_group(group))).sum()
    }
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum ManifestError {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error(transparent)]
    Formula(#[from] FormulaError),
    #[error("parameter `{name}`: direction, element, format and shape do not go together")]
    Parameter { name: String },
    #[error("parameter `{name}`: `{of}` with a block of at least 1 must be its scales")]
    Scales { name: String, of: String },
    #[error(
        "`[fresh]`: no `{name}` from {} to {} in steps of {}",
        range.from, range.to, range.step
    )]
    Range { name: String, range: Range },
    #[error("sizes {sizes}: a size is at least 1")]
    Zero { sizes: Sizes },
    #[error("sizes {sizes} do not name the signature's sizes in order: {expected}")]
    Sizes { sizes: Sizes, expected: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    title: String,
    origin: String,
    revision: u32,
    arch: String,
    signature: Vec<RawParameter>,
    check: Vec<CaseGroup>,
    fresh: Option<Fresh>,
    bench: CaseGroup,
    tolerance: Tolerance,
    speed_of_light: RawSpeedOfLight,
    mixing: Option<RawMixing>,
    #[serde(default)]
    known_bug: Vec<KnownBug>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSpeedOfLight {
    bytes: String,
    flops: String,
    each: Option<String>,
}

impl Manifest {
    /// Reads and checks a manifest: afterwards every formula evaluates at every size it lists.
    ///
    /// # Errors
    /// Unknown or missing keys, formulas that do not parse or do not fit the listed sizes.
    pub fn parse(text: &str) -> Result<Manifest, ManifestError> {
        let raw: RawManifest = toml::from_str(text)?;
        let signature: Result<_, _> = raw.signature.into_iter().map(Parameter::try_from).collect();
        let mut manifest = Manifest {
            title: raw.title,
            origin: raw.origin,
            revision: raw.revision,
            arch: raw.arch,
            signature: signature?,
            check: raw.check,
            fresh: raw.fresh,
            bench: raw.bench,
            tolerance: raw.tolerance,
            speed_of_light: SpeedOfLight {
                bytes: Formula::parse(&raw.speed_of_light.bytes)?,
                flops: Formula::parse(&raw.speed_of_light.flops)?,
                each: raw.speed_of_light.each,
            },
            mixing: raw.mixing.map(MixingRule::try_from).transpose()?,
            known_bugs: raw.known_bug,
        };
        manifest.resolve_scales()?;
        // TOML tables have no order: the signature gives it.
        let names: Vec<String> = manifest.sizes().map(|p| p.name.clone()).collect();
        for group in manifest.check.iter_mut().chain([&mut manifest.bench]) {
            group.sizes.iter_mut().for_each(|sizes| *sizes = sizes.sorted_by(&names));
        }
        for group in manifest.check.iter().chain([&manifest.bench]) {
            group.sizes.iter().try_for_each(|sizes| manifest.validate_own(sizes))?;
        }
        if let Some(fresh) = &manifest.fresh {
            for (name, range) in &fresh.sizes {
                if !range.is_some() {
                    return Err(ManifestError::Range { name: name.clone(), range: *range });
                }
            }
            manifest.validate(&fresh.sizes(&manifest.signature, |range| range.from))?;
        }
        Ok(manifest)
    }

    /// Whether a case may have these sizes. A reference's kernel takes numbers besides, which may be 0.
    ///
    /// # Errors
    /// What does not fit.
    pub fn validate_own(&self, sizes: &Sizes) -> Result<(), ManifestError> {
        match sizes.iter().any(|(_, size)| size == 0) {
            true => Err(ManifestError::Zero { sizes: sizes.clone() }),
            false => self.validate(sizes),
        }
    }

    /// Whether these sizes fit the signature: the right names, and every shape and formula evaluates.
    ///
    /// # Errors
    /// What does not fit.
    pub fn validate(&self, sizes: &Sizes) -> Result<(), ManifestError> {
        let given = sizes.iter().map(|(name, _)| name);
        let counted = |parameter: &Parameter| parameter.count(sizes) <= sizes.iter().count() as u64;
        if !self.sizes().all(counted) || !self.names(sizes).iter().map(String::as_str).eq(given) {
            let name = |parameter: &Parameter| match &parameter.each {
                None => parameter.name.clone(),
                Some(groups) => format!("{} for each of {groups}", parameter.name),
            };
            let expected = self.sizes().map(name).collect::<Vec<_>>().join(", ");
            return Err(ManifestError::Sizes { sizes: sizes.clone(), expected });
        }
        for parameter in &self.signature {
            for own in parameter.sizes_of_each(sizes) {
                parameter.len(&own)?;
            }
        }
        let light = &self.speed_of_light;
        light.total(&light.bytes, sizes)?;
        light.total(&light.flops, sizes)?;
        Ok(())
    }

    /// Finds the formats of scales that parameters name.
    fn resolve_scales(&mut self) -> Result<(), ManifestError> {
        let known: Vec<_> = self.signature.iter().map(|p| (p.name.clone(), p.format)).collect();
        for parameter in &mut self.signature {
            let Some(scales) = &mut parameter.scales else { continue };
            let format = known.iter().find(|(name, _)| *name == scales.of).map(|&(_, one)| one);
            match format.filter(|_| scales.block > 0) {
                Some(format) => scales.format = format,
                None => {
                    return Err(ManifestError::Scales {
                        name: parameter.name.clone(),
                        of: scales.of.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// `const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k`
    pub fn c_signature(&self) -> String {
        let parameters = self.signature.iter().map(|p| format!("{} {}", p.c_type(), p.name));
        parameters.collect::<Vec<_>>().join(", ")
    }

    /// The sizes among the parameters, in order.
    fn sizes(&self) -> impl Iterator<Item = &Parameter> {
        self.signature.iter().filter(|parameter| parameter.direction == Direction::Size)
    }

    /// The names of all sizes, entries of lists one by one, in order.
    fn names(&self, sizes: &Sizes) -> Vec<String> {
        let names = |parameter: &Parameter| match parameter.each {
            None => vec![parameter.name.clone()],
            Some(_) => (0..parameter.count(sizes)).map(|at| entry(&parameter.name, at)).collect(),
        };
        self.sizes().flat_map(names).collect()
    }

    /// The pointers among the parameters, in order.
    pub fn buffers(&self) -> impl Iterator<Item = &Parameter> {
        self.signature.iter().filter(|parameter| parameter.is_buffer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("../mxfp4_quantize/problem.toml");

    #[test]
    fn unknown_keys_are_refused() {
        let error = Manifest::parse(&GOOD.replace("revision", "reversion")).unwrap_err();
        assert!(error.to_string().contains("unknown field `reversion`"), "{error}");
        let error = Manifest::parse(&GOOD.replace("\"uniform\"", "\"unifrom\"")).unwrap_err();
        assert!(error.to_string().contains("unknown variant `unifrom`"), "{error}");
    }

    #[test]
    fn ranges_that_hold_nothing_are_refused() {
        for (right, wrong) in [("from = 1,", "from = 0,"), ("to = 4096", "to = 0")] {
            assert!(GOOD.contains(right));
            let error = Manifest::parse(&GOOD.replace(right, wrong)).unwrap_err();
            assert!(matches!(error, ManifestError::Range { .. }), "{error}");
        }
    }

    #[test]
    fn groups_without_end_are_refused() {
        let groups = include_str!("../nvfp4_group_gemm/problem.toml");
        let range = "g = { from = 1, to = 8 }";
        assert!(groups.contains(range));
        let wrong = "g = { from = 1000000000000, to = 1000000000000 }";
        let error = Manifest::parse(&groups.replace(range, wrong)).unwrap_err();
        assert!(matches!(error, ManifestError::Sizes { .. }));
    }

    #[test]
    fn sizes_must_fit_the_shapes() {
        let manifest = Manifest::parse(GOOD).expect("a good manifest");
        let error = manifest.validate(&Sizes::new([("m", 4), ("k", 48)])).unwrap_err();
        assert_eq!(error.to_string(), "`k/32`: 48 is not a multiple of 32 for 4x48");
        let error = manifest.validate_own(&Sizes::new([("m", 0), ("k", 64)])).unwrap_err();
        assert_eq!(error.to_string(), "sizes 0x64: a size is at least 1");
        let error = manifest.validate(&Sizes::new([("k", 64), ("m", 4)])).unwrap_err();
        assert!(error.to_string().contains("in order: m, k"), "{error}");
    }
}
