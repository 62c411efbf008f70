//! Launches: from `<<<…>>>` to the machine.

use std::cell::RefCell;
use std::ffi::c_void;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::abi::StreamHandle;
use super::abi::{Dim3, FunctionHandle, In, LaunchAttribute, LaunchConfiguration, Out};
use super::device_model::{
    BLOCK_EXTENT, CLUSTER_BLOCKS, CLUSTER_BLOCKS_NON_PORTABLE, GRID_EXTENT, Limits,
    THREADS_PER_BLOCK,
};
use super::error::{self, Code, Failure, Outcome};
use super::function::{Function, max_threads};
use super::graph::Task;
use super::occupancy::threads_by_registers;
use super::session::{LaunchRecord, Refused, Session};
use emulator::{Fault, FaultKind};
use emulator::{Kernel, LaunchConfig};

/// Refused launches kept for a report.
const REFUSED_KEPT: usize = 8;

/// What one launch asks for.
pub(super) struct Request {
    pub function: FunctionHandle,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: usize,
    stream: StreamHandle,
    cluster: Option<[u32; 3]>,
    cooperative: bool,
}

/// A launch that nothing is wrong with, to be done now or with a graph.
pub(super) struct Prepared {
    pub request: Request,
    configuration: LaunchConfig,
    parameters: Box<[u8]>,
    /// Where each argument stands in the parameters.
    pub arguments: Box<[usize]>,
}

/// A pointer to each argument.
pub(super) type Arguments = In<*const c_void>;

/// `<<<grid, block, shared, stream>>>` on its way to the stub.
type CallConfiguration = (Dim3, Dim3, usize, StreamHandle);

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<CallConfiguration>> = const { RefCell::new(Vec::new()) };
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    stream: StreamHandle,
) -> u32 {
    CONFIGURATIONS.with_borrow_mut(|stack| stack.push((grid, block, dynamic_shared, stream)));
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaPopCallConfiguration(
    grid: Out<Dim3>,
    block: Out<Dim3>,
    dynamic_shared: Out<usize>,
    stream: Out<StreamHandle>,
) -> Code {
    let Some(configuration) = CONFIGURATIONS.with_borrow_mut(Vec::pop) else {
        error::remember(Code::MISSING_CONFIGURATION);
        return Code::MISSING_CONFIGURATION;
    };
    grid.set_if_wanted(configuration.0);
    block.set_if_wanted(configuration.1);
    dynamic_shared.set_if_wanted(configuration.2);
    stream.set_if_wanted(configuration.3);
    Code::SUCCESS
}

fn product(extents: [u32; 3]) -> u64 {
    extents.iter().fold(1, |product, &extent| product.saturating_mul(u64::from(extent)))
}

impl Request {
    /// A launch with grid and block only; the others are set by whoever has them.
    pub fn new(
        function: FunctionHandle,
        (grid, block): (Dim3, Dim3),
        dynamic_shared: usize,
        stream: StreamHandle,
    ) -> Self {
        let (grid, block) = (grid.array(), block.array());
        Self { function, grid, block, dynamic_shared, stream, cluster: None, cooperative: false }
    }

    pub fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }

    pub fn of(
        configuration: &LaunchConfiguration,
        function: FunctionHandle,
    ) -> Result<Self, Failure> {
        let LaunchConfiguration { grid, block, dynamic_shared, stream, .. } = *configuration;
        let mut request = Self::new(function, (grid, block), dynamic_shared, stream);
        for index in 0..configuration.attribute_count as usize {
            let attribute = configuration.attributes.at(index)?;
            match attribute.id {
                LaunchAttribute::COOPERATIVE => request.cooperative = attribute.value[0] != 0,
                LaunchAttribute::CLUSTER_DIMENSION => {
                    let [x, y, z, ..] = attribute.value;
                    request.cluster = Some([x, y, z]);
                }
                // Priorities, overlap and cache hints change nothing here.
                _ => {}
            }
        }
        Ok(request)
    }

    /// Limits that no kernel can have lifted. The code is what an H200 gives (driver 580, CUDA 13.0);
    /// the manual would have `cudaErrorInvalidConfiguration`.
    fn check_extents(&self) -> Outcome {
        let invalid = |detail: String| Err(Code::INVALID_VALUE.because(detail));
        let Self { grid, block, .. } = self;
        if grid.contains(&0) || block.contains(&0) {
            return invalid(format!("grid {grid:?} and block {block:?} must not be empty"));
        }
        if product(*block) > u64::from(THREADS_PER_BLOCK)
            || block.iter().zip(BLOCK_EXTENT).any(|(&extent, limit)| extent > limit)
        {
            return invalid(format!(
                "a block of {block:?} threads; at most {BLOCK_EXTENT:?} and {THREADS_PER_BLOCK} \
                 in all"
            ));
        }
        if grid.iter().zip(GRID_EXTENT).any(|(&extent, limit)| extent > limit) {
            return invalid(format!("a grid of {grid:?} blocks; at most {GRID_EXTENT:?}"));
        }
        Ok(())
    }

    fn check_kernel(
        &self,
        function: &Function,
        kernel: &Kernel,
        (limits, registers): (Limits, u32),
    ) -> Outcome {
        let threads = product(self.block);
        let bound = max_threads(&kernel.directives);
        if threads > u64::from(bound) {
            let detail = format!("{threads} threads; {} was compiled for {bound}", kernel.name);
            return Err(Code::INVALID_VALUE.because(detail));
        }
        if let Some(required) = kernel.directives.reqntid.filter(|&block| block != self.block) {
            let detail = format!("{} needs blocks of {required:?} threads", kernel.name);
            return Err(Code::INVALID_VALUE.because(detail));
        }
        let limit = function.dynamic_shared_limit(kernel);
        if self.dynamic_shared > limit as usize {
            let most = limits.shared_per_block.saturating_sub(kernel.static_shared);
            let wanted = self.dynamic_shared;
            let detail = match wanted > most as usize {
                true => format!(
                    "{wanted} bytes of dynamic shared memory; a block may have {most}, beside {} \
                     static ones",
                    kernel.static_shared
                ),
                false => format!(
                    "{wanted} bytes of dynamic shared memory; {limit} until cudaFuncSetAttribute(\
                     cudaFuncAttributeMaxDynamicSharedMemorySize) raises it, to {most} at most"
                ),
            };
            return Err(Code::INVALID_VALUE.because(detail));
        }
        let fitting = threads_by_registers(registers);
        if threads > u64::from(fitting) {
            let detail = format!(
                "{threads} threads of {registers} registers; {fitting} have room, or more with \
                 __launch_bounds__({threads}), which makes the compiler use fewer"
            );
            return Err(Code::LAUNCH_OUT_OF_RESOURCES.because(detail));
        }
        Ok(())
    }

    /// The cluster's extents, from the launch or the kernel.
    fn checked_cluster(
        &self,
        function: &Function,
        kernel: &Kernel,
    ) -> Result<Option<[u32; 3]>, Failure> {
        let invalid = |detail: String| Err(Code::INVALID_CLUSTER_SIZE.because(detail));
        let compiled = kernel.directives.reqnctapercluster;
        if self.cluster.is_some() && compiled.is_some() && self.cluster != compiled {
            return invalid(format!("{} was compiled for clusters of {compiled:?}", kernel.name));
        }
        let Some(cluster) = self.cluster.or(compiled) else {
            if kernel.directives.explicitcluster {
                return invalid(format!("{} must be launched in clusters", kernel.name));
            }
            return Ok(None);
        };
        let limit = match function.non_portable_cluster {
            true => CLUSTER_BLOCKS_NON_PORTABLE,
            false => CLUSTER_BLOCKS,
        };
        let bound = kernel.directives.maxclusterrank.map_or(limit, |rank| rank.min(limit));
        if product(cluster) > u64::from(bound) || cluster.contains(&0) {
            return invalid(format!("a cluster of {cluster:?} blocks; at most {bound}"));
        }
        if self.grid.iter().zip(cluster).any(|(grid, cluster)| !grid.is_multiple_of(cluster)) {
            return invalid(format!("a grid of {:?} in clusters of {cluster:?}", self.grid));
        }
        Ok(Some(cluster))
    }
}

impl Session {
    /// Looks at all that can be wrong with a launch before the kernel begins.
    pub fn prepare(&self, request: Request, arguments: Arguments) -> Result<Prepared, Failure> {
        request.check_extents()?;
        let (function, kernel) = self.kernel(request.function)?;
        let has = (self.limits(), self.registers(&kernel.name));
        request.check_kernel(function, &kernel, has)?;
        let cluster = request.checked_cluster(function, &kernel)?;
        let dynamic_shared = request.dynamic_shared as u32;
        if request.cooperative {
            let blocks = self.blocks_per_sm(&kernel, product(request.block) as u32, dynamic_shared);
            let resident = u64::from(blocks) * u64::from(self.machine.config().sms);
            if product(request.grid) > resident {
                let detail = format!("{:?} blocks; {resident} can be resident", request.grid);
                return Err(Code::COOPERATIVE_LAUNCH_TOO_LARGE.because(detail));
            }
        }
        let parameters = packed(&kernel, arguments)?.into_boxed_slice();
        let first = parameters.as_ptr().expose_provenance();
        let arguments = kernel.params.iter().map(|each| first + each.offset as usize).collect();
        let Request { grid, block, cooperative, .. } = request;
        let configuration =
            LaunchConfig { kernel, grid, block, dynamic_shared, cluster, cooperative };
        Ok(Prepared { request, configuration, parameters, arguments })
    }

    #[cold]
    fn refuse(&mut self, function: FunctionHandle, failure: &Failure) {
        if self.report.refused.len() < REFUSED_KEPT
            && let Ok(Function { name, .. }) = self.function(function)
        {
            let (kernel, why) = (name.clone(), failure.detail.clone());
            self.report.refused.push(Refused { kernel, why, asked: false });
        }
    }

    pub fn launch(&mut self, request: Request, arguments: Arguments) -> Outcome {
        let (stream, function) = (request.stream, request.function);
        let prepared = self.prepare(request, arguments);
        let prepared = prepared.inspect_err(|failure| self.refuse(function, failure))?;
        self.submit(stream, Task::Kernel(Arc::new(prepared)))
    }

    /// A fault shows in the calls that follow, not in this one: on a GPU the launch has returned
    /// before the kernel begins.
    pub fn run(&mut self, prepared: &Prepared) {
        let Prepared { configuration, parameters, .. } = prepared;
        let start = Instant::now();
        let machine = AssertUnwindSafe(&self.machine);
        let profiles = self.options.profile;
        let result = catch_unwind(|| match profiles {
            true => machine.profile(configuration, parameters).map(|(all, each)| (all, Some(each))),
            false => machine.launch(configuration, parameters).map(|counters| (counters, None)),
        });
        // A GPU's `printf` comes out on the process's standard output, too, at the next wait for it.
        // Where that is closed there is nobody to tell.
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(&self.machine.take_output()).and_then(|()| stdout.flush());
        let host_ns = start.elapsed().as_nanos() as u64;
        let kernel = configuration.kernel.name.clone();
        match result {
            Ok(Ok((counters, profile))) => {
                profile.into_iter().for_each(|profile| self.report.add(profile));
                let record = LaunchRecord {
                    kernel,
                    grid: configuration.grid,
                    block: configuration.block,
                    dynamic_shared: configuration.dynamic_shared,
                    counters,
                    host_ns,
                };
                let model = self.options.time.as_ref();
                self.clock += model.map_or(host_ns as f64, |model| model(&record));
                self.report.launches.push(record);
                self.count_host_memory();
            }
            Ok(Err(fault)) => {
                let code = code_of(&fault);
                self.break_down(code, Some(*fault));
            }
            Err(_) => {
                let failure = Code::LAUNCH_FAILURE.because("the emulator itself failed");
                self.note(&kernel, &failure);
                self.break_down(failure.code, None);
            }
        }
    }
}

/// What the runtime would call a fault.
fn code_of(fault: &Fault) -> Code {
    match fault.kind {
        FaultKind::OutOfBounds { .. } | FaultKind::ReadOnly { .. } => Code::ILLEGAL_ADDRESS,
        FaultKind::Misaligned { .. } => Code::MISALIGNED_ADDRESS,
        FaultKind::Illegal { .. } => Code::ILLEGAL_INSTRUCTION,
        FaultKind::Trap { message: Some(_) } => Code::ASSERT,
        FaultKind::Budget { .. } | FaultKind::Deadlock { .. } => Code::LAUNCH_TIMEOUT,
        _ => Code::LAUNCH_FAILURE,
    }
}

/// The arguments laid out as the kernel's parameters.
fn packed(kernel: &Kernel, arguments: Arguments) -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![0; kernel.param_bytes as usize];
    for (index, parameter) in kernel.params.iter().enumerate() {
        let argument = arguments.at(index)?;
        if argument.is_null() {
            return Err(Code::INVALID_VALUE.because(format!("argument {index} is null")));
        }
        let (offset, size) = (parameter.offset as usize, parameter.size as usize);
        let target = bytes.get_mut(offset..offset + size).ok_or_else(|| {
            Code::INVALID_VALUE.because(format!("parameter {index} is outside the others"))
        })?;
        // SAFETY: the stub passes a pointer to each argument, of the type of the parameter.
        let source = unsafe { std::slice::from_raw_parts(argument.cast::<u8>(), size) };
        target.copy_from_slice(source);
    }
    Ok(bytes)
}

runtime! {
    /// The handle is the stub's address itself, which stays valid as long as the library does.
    fn __cudaGetKernel(handle: Out<FunctionHandle>, function: FunctionHandle) |session| {
        session.function(function)?;
        handle.set(function)
    }

    fn cudaGetKernel(handle: Out<FunctionHandle>, function: FunctionHandle) |session| {
        session.function(function)?;
        handle.set(function)
    }

    fn __cudaLaunchKernel(
        kernel: FunctionHandle, grid: Dim3, block: Dim3, arguments: Arguments,
        dynamic_shared: usize, stream: StreamHandle,
    ) + __cudaLaunchKernel_ptsz |session| {
        let request = Request::new(kernel, (grid, block), dynamic_shared, stream);
        session.launch(request, arguments)
    }

    fn cudaLaunchKernel(
        function: FunctionHandle, grid: Dim3, block: Dim3, arguments: Arguments,
        dynamic_shared: usize, stream: StreamHandle,
    ) + cudaLaunchKernel_ptsz |session| {
        let request = Request::new(function, (grid, block), dynamic_shared, stream);
        session.launch(request, arguments)
    }

    fn cudaLaunchCooperativeKernel(
        function: FunctionHandle, grid: Dim3, block: Dim3, arguments: Arguments,
        dynamic_shared: usize, stream: StreamHandle,
    ) + cudaLaunchCooperativeKernel_ptsz |session| {
        let request = Request::new(function, (grid, block), dynamic_shared, stream);
        session.launch(request.cooperative(), arguments)
    }

    fn cudaLaunchKernelExC(
        configuration: In<LaunchConfiguration>, function: FunctionHandle, arguments: Arguments,
    ) + cudaLaunchKernelExC_ptsz |session| {
        let request = Request::of(&configuration.get()?, function)?;
        session.launch(request, arguments)
    }
}
