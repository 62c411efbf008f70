//! Headers that programs include and that the managed compiler comes without, since NVIDIA has them in
//! packages of their own. A toolkit that has one is asked first.

use std::{fs, io, path::Path};

/// In the folder of the compilation.
pub const FOLDER: &str = "headers";

/// `cuda_profiler_api.h`: two functions, which the runtime has.
const PROFILER: &str = "\
#pragma once
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern \"C\" {
#endif
cudaError_t CUDARTAPI cudaProfilerStart(void);
cudaError_t CUDARTAPI cudaProfilerStop(void);
#ifdef __cplusplus
}
#endif
";

/// Writes them in `work`.
pub fn write(work: &Path) -> io::Result<()> {
    let folder = work.join(FOLDER);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("cuda_profiler_api.h"), PROFILER)
}
