//! Launches: from `<<<…>>>` to the device.

use std::cell::RefCell;
use std::ffi::c_void;
use std::io::Write;
use std::sync::Arc;

use super::abi::StreamHandle;
use super::abi::{Dim3, FunctionHandle, In, LaunchAttribute, LaunchConfiguration, Out};
use super::device_model::{CLUSTER_BLOCKS, CLUSTER_BLOCKS_NON_PORTABLE};
use super::error::{self, Code, Failure, Outcome};
use super::function::Function;
use super::graph::Task;
use super::session::{Refused, Session};
use crate::protocol::launch::{Allowance, Extents, Launch};
use crate::protocol::{KernelInfo, Launched};

/// Refused launches kept for a report.
const REFUSED_KEPT: usize = 8;

/// What one launch asks for.
pub(super) struct Request {
    pub function: FunctionHandle,
    stream: StreamHandle,
    extents: Extents,
}

/// A launch that nothing is wrong with, to be done now or with a graph.
pub(super) struct Prepared {
    pub function: FunctionHandle,
    pub launch: Launch,
    /// The kernel's name.
    name: String,
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

impl Request {
    /// A launch with grid and block only; the others are set by whoever has them.
    pub fn new(
        function: FunctionHandle,
        (grid, block): (Dim3, Dim3),
        dynamic_shared: usize,
        stream: StreamHandle,
    ) -> Self {
        let (grid, block) = (grid.array(), block.array());
        let (cluster, cooperative) = (None, false);
        let extents = Extents { grid, block, dynamic_shared, cluster, cooperative };
        Self { function, stream, extents }
    }

    pub fn cooperative(mut self) -> Self {
        self.extents.cooperative = true;
        self
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
                LaunchAttribute::COOPERATIVE => {
                    request.extents.cooperative = attribute.value[0] != 0
                }
                LaunchAttribute::CLUSTER_DIMENSION => {
                    let [x, y, z, ..] = attribute.value;
                    request.extents.cluster = Some([x, y, z]);
                }
                // Priorities, overlap and cache hints change nothing here.
                _ => {}
            }
        }
        Ok(request)
    }
}

impl Session {
    /// Looks at all that can be wrong with a launch before the kernel begins.
    pub fn prepare(&self, request: Request, arguments: Arguments) -> Result<Prepared, Failure> {
        let Request { function: handle, extents, .. } = request;
        extents.check()?;
        let (function, kernel) = self.kernel(handle)?;
        let cluster = if function.non_portable_cluster {
            CLUSTER_BLOCKS_NON_PORTABLE
        } else {
            CLUSTER_BLOCKS
        };
        let allowed = Allowance {
            limits: self.limits(),
            sms: self.connection.model.sms,
            dynamic_shared: function.dynamic_shared_limit(&kernel),
            cluster,
        };
        let cluster = extents.check_for(&kernel, allowed)?;
        let parameters = packed(&kernel, arguments)?;
        let first = parameters.as_ptr().expose_provenance();
        let arguments = kernel.params.iter().map(|(offset, _)| first + *offset as usize).collect();
        let Extents { grid, block, dynamic_shared, cooperative, .. } = extents;
        let dynamic_shared = dynamic_shared as u32;
        let id = kernel.id;
        let launch =
            Launch { kernel: id, grid, block, dynamic_shared, cluster, cooperative, parameters };
        Ok(Prepared { function: handle, launch, name: kernel.name.clone(), arguments })
    }

    #[cold]
    fn refuse(&mut self, function: FunctionHandle, failure: &Failure) {
        if self.complaints.refused.len() < REFUSED_KEPT
            && let Ok(Function { name, .. }) = self.function(function)
        {
            let (kernel, why) = (name.clone(), failure.detail.clone());
            self.complaints.refused.push(Refused { kernel, why, asked: false });
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
    pub fn run(&mut self, prepared: &Prepared) -> Outcome {
        let Launched { clock, printed, broken } = self.connection.launch(&prepared.launch)?;
        self.clock = clock;
        // A GPU's `printf` comes out on the process's standard output, too, at the next wait for it.
        // Where that is closed there is nobody to tell.
        let mut stdout = std::io::stdout();
        self.connection.printed(printed, |text| {
            let _ = stdout.write_all(text).and_then(|()| stdout.flush());
        })?;
        if let Some(failure) = broken {
            // Of a fault the device tells more.
            if !failure.detail.is_empty() {
                self.note(&prepared.name, &failure);
            }
            self.break_down(failure.code);
        }
        Ok(())
    }
}

/// The arguments laid out as the kernel's parameters.
fn packed(kernel: &KernelInfo, arguments: Arguments) -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![0; kernel.param_bytes as usize];
    for (index, &(offset, size)) in kernel.params.iter().enumerate() {
        let argument = arguments.at(index)?;
        if argument.is_null() {
            return Err(Code::INVALID_VALUE.because(format!("argument {index} is null")));
        }
        let (offset, size) = (offset as usize, size as usize);
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
