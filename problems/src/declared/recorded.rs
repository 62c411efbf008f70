//! References that are recordings: `recorded/64x256/a.npy`, a folder for each size, with a file for
//! each input and each output. Inputs are then always the same, so a solution can know them: for
//! problems whose truth cannot be computed here.

use std::fs;
use std::path::Path;

use crate::{CaseSpec, Direction, Manifest, npy};

/// Copies the recorded inputs. What cannot be read stays zero, and [`outputs`] says why.
pub(super) fn fill(
    folder: &Path,
    manifest: &Manifest,
    case: &CaseSpec,
    inputs: &mut [&mut [u8]],
) -> Vec<f32> {
    let parameters = manifest.signature.iter().filter(|one| one.direction == Direction::In);
    for (parameter, bytes) in parameters.zip(inputs) {
        if let Ok(recorded) = read(folder, case, &parameter.name)
            && recorded.len() == bytes.len()
        {
            bytes.copy_from_slice(&recorded);
        }
    }
    let scalars = manifest.signature.iter().filter(|one| one.direction == Direction::Scalar);
    let float = |name: &str| {
        let bytes = read(folder, case, name).unwrap_or_default();
        bytes.first_chunk().map_or(0.0, |&bytes| f32::from_le_bytes(bytes))
    };
    scalars.map(|parameter| float(&parameter.name)).collect()
}

pub(super) fn outputs(
    folder: &Path,
    manifest: &Manifest,
    case: &CaseSpec,
) -> Result<Vec<Vec<u8>>, String> {
    // Inputs too, so that a missing one is told.
    let recorded = manifest.signature.iter().filter(|one| one.direction != Direction::Size);
    let arrays = recorded.map(|one| Ok((one.direction, read(folder, case, &one.name)?)));
    let arrays: Vec<(Direction, Vec<u8>)> = arrays.collect::<Result<_, String>>()?;
    let outs = arrays.into_iter().filter(|(direction, _)| *direction == Direction::Out);
    Ok(outs.map(|(_, bytes)| bytes).collect())
}

fn read(folder: &Path, case: &CaseSpec, name: &str) -> Result<Vec<u8>, String> {
    let path = folder.join(case.sizes.to_string()).join(name).with_extension("npy");
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let array = npy::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(array.bytes)
}
