//! What happens while a compiler is fetched or works, for whoever shows it.

#[derive(Clone, Debug)]
pub enum Event {
    /// The compiler is being fetched: bytes so far and, where known, in all.
    Installing {
        what: String,
        done: u64,
        total: Option<u64>,
    },
    Compiling {
        file: String,
        arch: String,
    },
    Compiled {
        cached: bool,
        seconds: f64,
    },
    /// Something the user should know that changes no verdict.
    Warning(String),
}
