//! A kernel, and its faults in the words of its text.

use std::sync::Arc;

use crate::exec::{Launch, Stopped};
use crate::fault::{Fault, FaultKind, Site, SourcePoint};
use crate::lower::LowerError;
use crate::program::{Listing, ParamLayout, Program};
use ptx::SourceMap;
use ptx::ast::{self, Directives};

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
    pub(super) program: Result<Program, LowerError>,
    pub(super) text: Arc<str>,
    /// `.file INDEX "path"`.
    pub(super) files: Arc<[(u32, String)]>,
}

impl Kernel {
    /// The program that it was lowered to, beside its text; none if it could not be lowered.
    pub fn listing(&self) -> Option<impl std::fmt::Display> {
        self.program.as_ref().ok().map(|program| Listing { program, text: &self.text })
    }

    /// A launch that cannot be, whatever the kernel does.
    pub(super) fn unsupported(&self, what: String) -> Fault {
        self.not_lowered(&LowerError { message: what, span: 0..0 })
    }

    /// What could not be lowered, and where it stands in the text.
    pub(super) fn not_lowered(&self, error: &LowerError) -> Fault {
        let text = self.text.get(error.span.start as usize..error.span.end as usize);
        // Of a whole function, its first line.
        let instruction = text.and_then(|text| text.lines().next()).unwrap_or("");
        let line = SourceMap::new(&self.text).start(&error.span).line;
        Fault {
            kernel: self.name.clone(),
            kind: FaultKind::Unsupported { what: error.message.clone() },
            instruction: instruction.to_owned(),
            ptx_line: if error.span.is_empty() { 0 } else { line },
            source: Vec::new(),
            block: [0; 3],
            thread: [0; 3],
            active_lanes: 0,
            other: None,
        }
    }

    /// A stop, with everything that a reader wants to know of the place.
    pub(super) fn fault(&self, program: &Program, launch: &Launch, stopped: Stopped) -> Fault {
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
    pub(super) fn chain(&self, location: Option<&ast::SourceLocation>) -> Vec<SourcePoint> {
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
