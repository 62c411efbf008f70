//! References that are Python: `reference.py`, NumPy in and NumPy out, in a process of its own.
//!
//! The file defines `reference`, which is given the arrays and numbers of the signature that are
//! not outputs, in its order, and returns the outputs: an array, or a tuple of them. Arrays go
//! through files in a temporary folder.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use super::Declared;
use crate::problem::Given;
use crate::{CaseSpec, Direction, npy};

/// Calls `reference`: arguments are the file, the folder, and for each argument the name of an
/// array's file or a number.
const CALL: &str = "
import runpy, sys
import numpy as np
file, folder, *arguments = sys.argv[1:]
reference = runpy.run_path(file)['reference']
kinds = {'a': lambda name: np.load(f'{folder}/{name}.npy'), 'f': np.float32, 's': int}
outputs = reference(*(kinds[argument[0]](argument[1:]) for argument in arguments))
outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
for number, output in enumerate(outputs):
    np.save(f'{folder}/out{number}.npy', np.ascontiguousarray(output))
";

pub(super) fn run(
    file: &Path,
    declared: &Declared,
    case: &CaseSpec,
    given: &Given,
    bug: u64,
) -> Result<Vec<Vec<u8>>, String> {
    let disk = |error: io::Error| format!("no temporary folder for reference.py: {error}");
    let folder = tempfile::tempdir().map_err(disk)?;
    let (mut inputs, mut scalars) = (given.inputs.iter(), given.scalars.iter());
    let mut arguments = Vec::new();
    for parameter in &declared.manifest.signature {
        match parameter.direction {
            Direction::In => {
                let extents = parameter.shape.iter().map(|extent| extent.evaluate(&case.sizes));
                let shape = extents.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
                let bytes = inputs.next().map_or_else(Vec::new, |bytes| bytes.to_vec());
                let array = npy::Array { element: parameter.element, shape, bytes };
                let path = folder.path().join(&parameter.name).with_extension("npy");
                fs::write(path, npy::write(&array)).map_err(disk)?;
                arguments.push(format!("a{}", parameter.name));
            }
            Direction::Scalar => {
                arguments.push(format!("f{}", scalars.next().copied().unwrap_or_default()));
            }
            Direction::Size => {
                arguments.push(format!("s{}", case.sizes.get(&parameter.name).unwrap_or_default()));
            }
            Direction::Out => {}
        }
    }
    if !declared.manifest.known_bugs.is_empty() {
        arguments.push(format!("s{bug}"));
    }
    let python = env::var_os("NIBBLE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(&python)
        .args(["-c", CALL])
        .args([file.as_os_str(), folder.path().as_os_str()])
        .args(arguments)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", python.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        // Of a traceback the last line says what is wrong.
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
        return Err(format!("reference.py failed: {last}"));
    }
    (0..)
        .map(|number| folder.path().join(format!("out{number}.npy")))
        .take_while(|path| path.exists())
        .map(|path| {
            let bytes = fs::read(&path).map_err(disk)?;
            let array = npy::read(&bytes).map_err(|error| format!("reference.py: {error}"))?;
            Ok(array.bytes)
        })
        .collect()
}
