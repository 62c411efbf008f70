//! A module: parsed once, its kernels lowered one by one as they are asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::{Config, Kernel, LoadError, variables};
use crate::exec::Level;
use crate::lower::{self, Environment};
use crate::memory::GlobalMemory;
use crate::program::Program;

/// PTX that has been loaded: its variables have addresses, its kernels can be launched.
pub struct LoadedModule {
    parsed: Parsed,
    level: Level,
    files: Arc<[(u32, String)]>,
    kernels: Mutex<HashMap<String, Arc<Kernel>>>,
}

/// A tree beside the text that it borrows from.
struct Parsed {
    /// `'static` stands for as long as `text`: it leaves through [`Self::environment`] only.
    environment: Environment<'static>,
    text: Arc<str>,
}

impl Parsed {
    fn new(text: &str, config: &Config, memory: &GlobalMemory) -> Result<Self, LoadError> {
        let text: Arc<str> = Arc::from(text);
        // SAFETY: the characters do not move with the `Arc`, never change, and outlive the tree, which
        // stands before them in the struct and is dropped first.
        let kept: &'static str = unsafe { &*Arc::as_ptr(&text) };
        let mut environment = Environment::new(ptx::parse(kept)?, config.sanitize);
        environment.symbols = variables::place(&environment, memory)?;
        Ok(Self { environment, text })
    }

    fn environment(&self) -> &Environment<'_> {
        &self.environment
    }
}

impl LoadedModule {
    pub(super) fn new(
        text: &str,
        config: &Config,
        memory: &GlobalMemory,
    ) -> Result<Self, LoadError> {
        let parsed = Parsed::new(text, config, memory)?;
        let environment = parsed.environment();
        if environment.function("malloc").is_some() {
            memory.provide_heap()?;
        }
        let files = &environment.module.files;
        let files = files.iter().map(|(index, path)| (*index, (*path).to_owned())).collect();
        Ok(Self { parsed, level: config.level, files, kernels: Mutex::default() })
    }

    /// Names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let functions = self.parsed.environment().module.functions.iter();
        functions.filter(|function| function.entry && function.body.is_some()).map(|f| f.name)
    }

    /// Address and bytes of a module-scope variable.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.parsed.environment().symbols.get(name).copied()
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
        let environment = self.parsed.environment();
        let function = environment.function(name).filter(|function| function.entry)?;
        let program = lower::lower(environment, function, self.level);
        let of = |f: fn(&Program) -> u32| program.as_ref().map_or(0, f);
        Some(Kernel {
            name: name.to_owned(),
            params: program.as_ref().map(|p| p.params.clone()).unwrap_or_default(),
            param_bytes: of(|p| p.param_bytes),
            directives: function.directives.clone(),
            static_shared: of(|p| p.static_shared),
            local_bytes: of(|p| p.local_bytes),
            program,
            text: self.parsed.text.clone(),
            files: self.files.clone(),
        })
    }
}
