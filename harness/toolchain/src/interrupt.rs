//! The request to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Raised by whoever handles Ctrl-C; every wait looks at it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub fn raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
