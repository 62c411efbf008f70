//! One CTA on the emulator: PTX around a body, words in, words out.

use emulator::{Config, Fault, LaunchConfig, Level, Machine};

/// A kernel of so many warps whose `body` finds its thread's number in `%t`, its warp's in `%w`, the
/// arrays in `%in` and `%out`, and 64 KiB of shared memory at `s`.
pub struct Kernel<'a> {
    pub threads: u32,
    pub body: &'a str,
}

impl Kernel<'_> {
    fn text(&self) -> String {
        format!(
            ".version 9.0\n.target sm_100a\n.address_size 64\n\
             .visible .entry kernel(.param .u64 in, .param .u64 out)\n{{\n\
             .reg .b32 %t, %w, %x, %y, %z, %r<140>;\n.reg .b64 %in, %out, %at, %d<8>;\n\
             .reg .pred %p<4>;\n.shared .align 1024 .b8 s[65536];\n.shared .align 8 .b8 bar[16];\n\
             .shared .align 4 .b8 taddr[4];\n\
             ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
             mov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\n{}\nret;\n}}\n",
            self.body
        )
    }

    /// What `out`, so many words of zeros before, holds afterwards.
    pub fn run(&self, input: &[u32], out: usize) -> Result<Vec<u32>, Box<Fault>> {
        let machine =
            Machine::new(Config { threads: 1, level: Level::detect(), ..Config::default() });
        let bytes = |words: usize| 4 * words.max(1) as u64;
        let from = machine.memory().allocate(bytes(input.len()), "in").expect("room");
        let to = machine.memory().allocate(bytes(out), "out").expect("room");
        // SAFETY: an allocation of that size, which nothing else uses yet.
        unsafe { std::slice::from_raw_parts_mut(from as *mut u32, input.len()) }
            .copy_from_slice(input);
        let module = machine.load(&self.text()).unwrap_or_else(|e| panic!("{e}\n{}", self.text()));
        let launch = LaunchConfig {
            kernel: module.kernel("kernel").expect("kernel"),
            grid: [1, 1, 1],
            block: [self.threads, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
        };
        let params = [from.to_le_bytes(), to.to_le_bytes()].concat();
        machine.launch(&launch, &params)?;
        // SAFETY: the allocation above, which nothing writes any more.
        Ok(unsafe { std::slice::from_raw_parts(to as *const u32, out) }.to_vec())
    }
}

/// Allocate by warp 0; the address in `%x` of every thread.
pub fn allocate(columns: u32) -> String {
    format!(
        "setp.ne.u32 %p0, %w, 0;\n@%p0 bra ALLOCATED;\n\
         tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], {columns};\n\
         tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n\
         ALLOCATED:\nbar.sync 0;\nld.shared.u32 %x, [taddr];\n"
    )
}

/// Free what [`allocate`] gave, when all warps are done.
pub fn free(columns: u32) -> String {
    format!(
        "bar.sync 0;\n@%p0 bra FREED;\n\
         tcgen05.dealloc.cta_group::1.sync.aligned.b32 %x, {columns};\nFREED:\n"
    )
}

/// `%r0, %r1, …`
pub fn registers(count: usize) -> String {
    let all: Vec<_> = (0..count).map(|register| format!("%r{register}")).collect();
    all.join(", ")
}
