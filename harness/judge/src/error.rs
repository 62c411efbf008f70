//! Why no verdict could be reached. What a solution does wrong is a verdict, not an error.

use toolchain::ToolchainError;

/// The command line's exit codes 2 and 3 follow from the variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Asked for something that does not exist or makes no sense.
    #[error("{0}")]
    Usage(String),
    /// This machine lacks something; `mend` is the one command or act that helps.
    #[error("{lacks}")]
    Machine { lacks: String, mend: String },
}

impl Error {
    pub(crate) fn machine(lacks: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::Machine { lacks: lacks.into(), mend: mend.into() }
    }
}

impl From<ToolchainError> for Error {
    fn from(error: ToolchainError) -> Self {
        Self::machine(error.to_string(), error.mend())
    }
}
