//! The emulated GPU: load modules, launch kernels.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::counters::Counters;
use crate::exec::{Launch, Level, Tally, ThreadPool, run_grid};
use crate::fault::Fault;
use crate::memory::{GlobalMemory, OutOfMemory};
use crate::profile::KernelProfile;
use crate::program::Program;
use ptx::ParseError;

mod kernel;
mod module;
mod variables;

pub use kernel::Kernel;
pub use module::LoadedModule;

/// What is emulated, and with what.
#[derive(Clone, Debug)]
pub struct Config {
    /// Host threads; CTAs are spread over them.
    pub threads: usize,
    /// Count what launches cost. Costs time itself: a tenth for a coalesced quantizer, a quarter for a strided one.
    pub counting: bool,
    /// Bytes of device memory.
    pub memory: u64,
    /// Multiprocessors of the modelled GPU.
    pub sms: u32,
    /// Compute capability: (10, 0).
    pub capability: (u32, u32),
    pub level: Level,
    /// Keep device memory where the host cannot reach it, as a GPU does: to follow a device pointer is
    /// then a segmentation fault.
    pub apart: bool,
    /// Look for races and for values that nobody made, on one host thread.
    pub sanitize: bool,
    /// Leave the order of splits, warps and CTAs to chance, on one host thread; the same number gives
    /// the same order.
    pub seed: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            counting: true,
            memory: 16 << 30,
            sms: 148,
            capability: (10, 0),
            level: Level::detect(),
            apart: false,
            sanitize: false,
            seed: None,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the PTX does not parse: {0}")]
    Parse(#[from] ParseError),
    #[error("the PTX's variables do not fit: {0}")]
    Memory(#[from] OutOfMemory),
    #[error("variable `{name}`: {what}")]
    Variable { name: String, what: String },
}

/// An emulated GPU. Launches from several threads run one after the other.
pub struct Machine {
    config: Config,
    memory: GlobalMemory,
    /// Who runs the launch under way.
    pool: Mutex<ThreadPool>,
    /// When launches are given up.
    deadline: Mutex<Option<Instant>>,
    /// What kernels have printed, and nobody has taken yet.
    printed: Mutex<Vec<u8>>,
    /// Bytes of a thread's stack.
    stack: AtomicU32,
}

/// Bytes of a thread's stack, for kernels that need one: sixteen times what a GPU gives them at first, since
/// frames are not the same here. Memory of the host, for those threads that use it.
const STACK: u32 = 16 << 10;

/// How a kernel is to be launched. Limits of the hardware are the caller's business.
pub struct LaunchConfig {
    pub kernel: Arc<Kernel>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub cluster: Option<[u32; 3]>,
    pub cooperative: bool,
}

impl Machine {
    pub fn new(config: Config) -> Self {
        let memory = GlobalMemory::new(config.memory, config.sanitize, config.apart);
        Self {
            config,
            memory,
            pool: Mutex::default(),
            deadline: Mutex::default(),
            printed: Mutex::default(),
            stack: AtomicU32::new(STACK),
        }
    }

    /// Let the threads of launches to come have at least so many bytes of stack.
    pub fn provide_stack(&self, bytes: u32) {
        self.stack.store(bytes.max(STACK), Ordering::Relaxed);
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn memory(&self) -> &GlobalMemory {
        &self.memory
    }

    /// Give up launches that are not over at this moment, which is looked at whenever a warp has run for
    /// some thousand blocks of code: the fault says where it was.
    pub fn give_up_at(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(|e| e.into_inner()) = deadline;
    }

    /// What kernels have printed since it was last asked.
    pub fn take_output(&self) -> Vec<u8> {
        std::mem::take(&mut *self.printed.lock().unwrap_or_else(|e| e.into_inner()))
    }

    /// Parse a module and place its variables.
    ///
    /// # Errors
    /// Where the text is no PTX, or its variables do not fit or refer to what is not there.
    pub fn load(&self, ptx: &str) -> Result<Arc<LoadedModule>, LoadError> {
        LoadedModule::new(ptx, &self.config, &self.memory).map(Arc::new)
    }

    /// Run a kernel to its end. `params` are laid out as [`Kernel::params`] say.
    ///
    /// # Errors
    /// The fault that stopped it. Memory is left as it was then.
    pub fn launch(&self, launch: &LaunchConfig, params: &[u8]) -> Result<Counters, Box<Fault>> {
        self.run(launch, params, |program, tally| Counters::of(program, &tally.settled(program)))
    }

    /// As [`Self::launch`], with the counts of every place in the source as well. Which place the first
    /// touch of a sector is counted at depends on who comes first, so only with one host thread are they
    /// the same every time.
    ///
    /// # Errors
    /// As for [`Self::launch`].
    pub fn profile(
        &self,
        launch: &LaunchConfig,
        params: &[u8],
    ) -> Result<(Counters, KernelProfile), Box<Fault>> {
        let kernel = &*launch.kernel;
        self.run(launch, params, |program, tally| {
            let chain = |location: Option<u32>| {
                kernel.chain(location.and_then(|at| program.locations.get(at as usize)))
            };
            let tally = tally.settled(program);
            let profile = KernelProfile::of(&kernel.name, program, &tally, chain);
            (Counters::of(program, &tally), profile)
        })
    }

    fn run<T>(
        &self,
        launch: &LaunchConfig,
        params: &[u8],
        counts: impl FnOnce(&Program, &Tally) -> T,
    ) -> Result<T, Box<Fault>> {
        let mut pool = self.pool.lock().unwrap_or_else(|e| e.into_inner());
        let kernel = &*launch.kernel;
        let program = match &kernel.program {
            Ok(program) => program,
            Err(error) => return Err(Box::new(kernel.not_lowered(error))),
        };
        let cluster = launch.cluster.or(kernel.directives.reqnctapercluster).unwrap_or([1; 3]);
        let whole = |axis: usize| launch.grid[axis].is_multiple_of(cluster[axis]);
        if cluster.contains(&0) || !(0..3).all(whole) {
            let what = format!("a grid of {:?} in clusters of {cluster:?}", launch.grid);
            return Err(Box::new(kernel.unsupported(what)));
        }
        // A private copy, aligned for any parameter, that kernels can take the address of.
        let mut block = vec![0u128; params.len().max(kernel.param_bytes as usize).div_ceil(16) + 8];
        let base = (block.as_mut_ptr() as usize).next_multiple_of(128);
        let skip = base - block.as_ptr() as usize;
        // SAFETY: `block` has 128 bytes to spare for the alignment.
        let room = unsafe {
            let start = block.as_mut_ptr().cast::<u8>().add(skip);
            std::slice::from_raw_parts_mut(start, params.len().max(kernel.param_bytes as usize))
        };
        room[..params.len()].copy_from_slice(params);
        let mut memory = self.memory.snapshot();
        memory.add_parameters(room.as_ptr() as u64, room.len() as u64);
        // Where the CTAs of a cooperative launch count each other (`grid.sync`): 16 bytes would do.
        let mut words = vec![0u64; 8];
        let workspace =
            if launch.cooperative { words.as_mut_ptr().expose_provenance() as u64 } else { 0 };
        if launch.cooperative {
            memory.add_workspace(workspace, 64);
        }
        let ctas: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let resident = if launch.cooperative { ctas as usize } else { RESIDENT };
        // One party that knows of everything, or draws all numbers.
        let alone = self.config.sanitize || self.config.seed.is_some();
        let run = Launch {
            program,
            memory: &memory,
            grid: launch.grid,
            block: launch.block,
            cluster,
            workspace,
            dynamic_shared: launch.dynamic_shared,
            stack: self.stack.load(Ordering::Relaxed),
            params: room,
            output: &self.printed,
            counting: self.config.counting,
            threads: if alone { 1 } else { pool.hire(self.config.threads) },
            resident,
            index_slots: Launch::index_slots(program),
            sms: self.config.sms,
            deadline: *self.deadline.lock().unwrap_or_else(|e| e.into_inner()),
            sanitize: self.config.sanitize,
            seed: self.config.seed,
        };
        match run_grid(&run, &mut pool) {
            Ok(tally) => Ok(counts(program, &tally)),
            Err(stopped) => Err(Box::new(kernel.fault(program, &run, *stopped))),
        }
    }
}

/// CTAs under way at a time, where they need not all be.
const RESIDENT: usize = 128;
