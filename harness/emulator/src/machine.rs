//! The emulated GPU: load modules, launch kernels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::counters::Counters;
use crate::exec::{Launch, Level, Stopped, Tally, run_grid};
use crate::fault::{Fault, FaultKind, Site, SourcePoint};
use crate::lower::{self, Environment};
use crate::memory::{GlobalMemory, OutOfMemory};
use crate::profile::KernelProfile;
use crate::program::{ParamLayout, Program};
use crate::ptx::ast::{self, Directives};
use crate::ptx::{ParseError, SourceMap};

mod variables;

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
    launching: Mutex<()>,
    /// When launches are given up.
    deadline: Mutex<Option<Instant>>,
    /// What kernels have printed, and nobody has taken yet.
    printed: Mutex<Vec<u8>>,
}

/// PTX that has been loaded: its variables have addresses, its kernels can be launched.
pub struct LoadedModule {
    text: Arc<str>,
    level: Level,
    sanitize: bool,
    /// Addresses and sizes of module-scope variables.
    symbols: HashMap<String, (u64, u64)>,
    names: Vec<String>,
    kernels: Mutex<HashMap<String, Arc<Kernel>>>,
}

/// A kernel, lowered at its first use.
pub struct Kernel {
    pub name: String,
    pub params: Vec<ParamLayout>,
    pub param_bytes: u32,
    pub directives: Directives,
    /// Bytes of static shared memory.
    pub static_shared: u32,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    program: Result<Program, String>,
    text: Arc<str>,
    files: Vec<(u32, String)>,
}

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
        let memory = GlobalMemory::new(config.memory, config.sanitize);
        Self {
            config,
            memory,
            launching: Mutex::default(),
            deadline: Mutex::default(),
            printed: Mutex::default(),
        }
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
        let module = crate::ptx::parse(ptx)?;
        let symbols = variables::place(&module, &self.memory)?;
        if module.functions.iter().any(|function| function.name == "malloc") {
            self.memory.provide_heap()?;
        }
        Ok(Arc::new(LoadedModule {
            text: Arc::from(ptx),
            level: self.config.level,
            sanitize: self.config.sanitize,
            symbols,
            names: module
                .functions
                .iter()
                .filter(|f| f.entry && f.body.is_some())
                .map(|f| f.name.to_owned())
                .collect(),
            kernels: Mutex::default(),
        }))
    }

    /// Run a kernel to its end. `params` are laid out as [`Kernel::params`] say.
    ///
    /// # Errors
    /// The fault that stopped it. Memory is left as it was then.
    pub fn launch(&self, launch: &LaunchConfig, params: &[u8]) -> Result<Counters, Box<Fault>> {
        self.run(launch, params, Counters::of)
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
            let profile = KernelProfile::of(&kernel.name, program, tally, chain);
            (Counters::of(program, tally), profile)
        })
    }

    fn run<T>(
        &self,
        launch: &LaunchConfig,
        params: &[u8],
        counts: impl FnOnce(&Program, &Tally) -> T,
    ) -> Result<T, Box<Fault>> {
        let _one_at_a_time = self.launching.lock().unwrap_or_else(|e| e.into_inner());
        let kernel = &*launch.kernel;
        let program = match &kernel.program {
            Ok(program) => program,
            Err(message) => return Err(Box::new(kernel.unsupported(message.clone()))),
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
        // One party that knows of everything, or throws all dice.
        let alone = self.config.sanitize || self.config.seed.is_some();
        let run = Launch {
            program,
            memory: &memory,
            grid: launch.grid,
            block: launch.block,
            cluster,
            workspace,
            dynamic_shared: launch.dynamic_shared,
            params: room,
            output: &self.printed,
            counting: self.config.counting,
            threads: if alone { 1 } else { self.config.threads },
            resident,
            index_slots: Launch::index_slots(program),
            sms: self.config.sms,
            deadline: *self.deadline.lock().unwrap_or_else(|e| e.into_inner()),
            sanitize: self.config.sanitize,
            seed: self.config.seed,
        };
        match run_grid(&run) {
            Ok(tally) => Ok(counts(program, &tally)),
            Err(stopped) => Err(Box::new(kernel.fault(program, &run, *stopped))),
        }
    }
}

/// CTAs under way at a time, where they need not all be.
const RESIDENT: usize = 128;

impl LoadedModule {
    /// Names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Address and bytes of a module-scope variable.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.symbols.get(name).copied()
    }

    /// A kernel by its name in the PTX, lowered now if it was not before.
    pub fn kernel(&self, name: &str) -> Option<Arc<Kernel>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(kernel) = kernels.get(name) {
            return Some(kernel.clone());
        }
        let kernel = Arc::new(self.lower(name)?);
        kernels.insert(name.to_owned(), kernel.clone());
        Some(kernel)
    }

    fn lower(&self, name: &str) -> Option<Kernel> {
        // Parsed again rather than kept: the tree borrows from the text.
        let module = crate::ptx::parse(&self.text).ok()?;
        // Declarations first, so that a definition of the same name replaces them.
        let (declared, defined): (Vec<_>, Vec<_>) =
            module.functions.iter().partition(|function| function.body.is_none());
        let functions: HashMap<&str, &ast::Function> =
            declared.into_iter().chain(defined).map(|f| (f.name, f)).collect();
        let function = *functions.get(name).filter(|f| f.entry)?;
        let addresses = self.symbols.iter().map(|(name, (at, _))| (name.clone(), *at)).collect();
        let sanitize = self.sanitize;
        let environment =
            Environment { module: &module, addresses: &addresses, functions: &functions, sanitize };
        let lowered = lower::lower(&environment, function, self.level);
        let program = lowered.map_err(|error| error.message);
        let of = |f: fn(&Program) -> u32| program.as_ref().map_or(0, f);
        Some(Kernel {
            name: name.to_owned(),
            params: program.as_ref().map(|p| p.params.clone()).unwrap_or_default(),
            param_bytes: of(|p| p.param_bytes),
            directives: function.directives.clone(),
            static_shared: of(|p| p.static_shared),
            local_bytes: of(|p| p.local_bytes),
            program,
            text: self.text.clone(),
            files: module.files.iter().map(|(n, path)| (*n, (*path).to_owned())).collect(),
        })
    }
}

impl Kernel {
    fn unsupported(&self, what: String) -> Fault {
        Fault {
            kernel: self.name.clone(),
            kind: FaultKind::Unsupported { what },
            instruction: String::new(),
            ptx_line: 0,
            source: Vec::new(),
            block: [0; 3],
            thread: [0; 3],
            active_lanes: 0,
            other: None,
        }
    }

    /// A stop, with everything that a reader wants to know of the place.
    fn fault(&self, program: &Program, launch: &Launch, stopped: Stopped) -> Fault {
        let block = &program.blocks[stopped.block as usize];
        let inside = stopped.ip >= block.first && stopped.ip < block.end;
        let origin = if inside {
            program.code[stopped.ip as usize].origin
        } else {
            block.origins.end.saturating_sub(1)
        };
        let Site { instruction, ptx_line, source, .. } = self.site(program, origin);
        let [width, height, _] = launch.block;
        let thread = |warp: u32, lane: u32| {
            let thread = warp * 32 + lane;
            [thread % width, thread / width % height, thread / (width * height)]
        };
        let other = stopped.earlier.map(|earlier| Site {
            block: earlier.cta.map_or(stopped.cta, |cta| launch.index_of(cta.into())),
            thread: earlier.thread.map(|(warp, lane)| thread(warp, lane)),
            ..self.site(program, program.code[earlier.ip as usize].origin)
        });
        Fault {
            kernel: self.name.clone(),
            kind: stopped.kind,
            instruction,
            ptx_line,
            source,
            block: stopped.cta,
            thread: thread(stopped.warp, stopped.lane),
            active_lanes: stopped.mask,
            other,
        }
    }

    /// A place in the program, in the words of its text and its source.
    fn site(&self, program: &Program, origin: u32) -> Site {
        let origin = program.origins.get(origin as usize);
        let span = origin.map(|origin| origin.span.clone()).unwrap_or_default();
        let text = self.text.get(span.start as usize..span.end as usize);
        let location = origin.and_then(|o| program.locations.get(o.location? as usize));
        let line = SourceMap::new(&self.text).start(&span).line;
        Site {
            instruction: text.unwrap_or("").to_owned(),
            ptx_line: if origin.is_some() { line } else { 0 },
            source: self.chain(location),
            block: [0; 3],
            thread: None,
        }
    }

    /// A location and the calls it was inlined through.
    fn chain(&self, location: Option<&ast::SourceLocation>) -> Vec<SourcePoint> {
        let mut points = Vec::new();
        let mut next = location;
        while let Some(location) = next {
            let file = self.files.iter().find(|(index, _)| *index == location.file);
            points.push(SourcePoint {
                file: file.map_or_else(|| "?".to_owned(), |(_, path)| path.clone()),
                line: location.line,
                column: location.column,
                function: location.function.as_deref().map(str::to_owned),
            });
            next = location.inlined_at.as_deref();
        }
        points
    }
}
