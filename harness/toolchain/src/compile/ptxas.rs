//! What `ptxas -v` says of each kernel.
//!
//! ```text
//! ptxas info    : Compiling entry function '_Z1kPf' for 'sm_100a'
//! ptxas info    : Function properties for _Z1kPf
//!     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//! ptxas info    : Used 8 registers, used 0 barriers, 1024 bytes smem
//! ```
//!
//! A `__noinline__` function has properties too, between its caller's first and last line: only
//! those of the kernel itself are taken.

use super::name::readable;
use ptx::KernelFacts;

/// One record for each kernel, in the order of the output.
pub fn facts(output: &str) -> Vec<KernelFacts> {
    let mut all: Vec<KernelFacts> = Vec::new();
    let mut of_kernel = false;
    for line in output.lines() {
        let said = line.strip_prefix("ptxas info").map_or(line, |rest| rest.trim_start()).trim();
        let said = said.strip_prefix(": ").unwrap_or(said);
        if let Some(rest) = said.strip_prefix("Compiling entry function '") {
            let mangled = rest.split('\'').next().unwrap_or_default().to_owned();
            all.push(KernelFacts {
                name: readable(&mangled),
                mangled,
                registers: 0,
                spill_store_bytes: 0,
                spill_load_bytes: 0,
                shared_bytes: 0,
                stack_bytes: 0,
            });
            continue;
        }
        let Some(kernel) = all.last_mut() else { continue };
        if let Some(name) = said.strip_prefix("Function properties for ") {
            of_kernel = name.trim() == kernel.mangled;
        } else if said.ends_with("bytes spill loads") && of_kernel {
            kernel.stack_bytes = before(said, "bytes stack frame");
            kernel.spill_store_bytes = before(said, "bytes spill stores");
            kernel.spill_load_bytes = before(said, "bytes spill loads");
        } else if said.starts_with("Used ") {
            kernel.registers = before(said, "registers");
            kernel.shared_bytes = before(said, "bytes smem");
        }
    }
    all
}

/// The number in front of `unit`, in a list with commas; 0 where it is not listed.
fn before(list: &str, unit: &str) -> u32 {
    let item = list.split(',').find_map(|item| item.trim().strip_suffix(unit));
    let number = item.and_then(|item| item.split_whitespace().last()?.parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_belong_to_the_kernel_and_not_to_its_callee() {
        let output = "\
ptxas info    : 8 bytes gmem
ptxas info    : Compiling entry function '_Z4busyPfi' for 'sm_100a'
ptxas info    : Function properties for _Z4busyPfi
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for _Z6helperf
    512 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 2048 bytes smem, 4 bytes cmem[0]
ptxas info    : Compile time = 9.448 ms
ptxas info    : Compiling entry function '_Z4idlev' for 'sm_100a'
ptxas info    : Function properties for _Z4idlev
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
";
        let facts = facts(output);
        assert_eq!(facts.len(), 2);
        let busy = KernelFacts {
            name: "busy".into(),
            mangled: "_Z4busyPfi".into(),
            registers: 40,
            spill_store_bytes: 4,
            spill_load_bytes: 8,
            shared_bytes: 2048,
            stack_bytes: 16,
        };
        assert_eq!(facts[0], busy);
        assert_eq!((facts[1].registers, facts[1].shared_bytes), (4, 0));
        assert_eq!(super::facts("noise\nUsed 3 registers\n"), []);
    }
}
