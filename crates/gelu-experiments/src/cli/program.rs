use super::{refuse, run};
use crate::Result;
use burn::tensor::Tensor;
use gelu_learner::activation::register;
use std::process::ExitCode;

/// The whole command line of `gelu` with activations of one's own.
///
/// ```no_run
/// use gelu_experiments::cli::Program;
///
/// fn main() -> std::process::ExitCode {
///     Program::new().activation("snake", |x| x.clone() + x.sin().powi_scalar(2)).run()
/// }
/// ```
#[derive(Debug, Default)]
#[must_use = "a program does nothing until it is run"]
pub struct Program {
    refused: Option<crate::Error>,
}

impl Program {
    /// What `gelu` itself is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an activation by its name and function; see [`register`] for what both may be.
    pub fn activation(
        mut self,
        name: &str,
        function: impl Fn(Tensor<1>) -> Tensor<1> + Send + Sync + 'static,
    ) -> Self {
        let registered: Result<()> = register(name, function);
        self.refused = self.refused.or(registered.err());
        self
    }

    /// Parses the command line, carries it out, and says how it went.
    pub fn run(self) -> ExitCode {
        match self.refused {
            Some(error) => refuse(&error),
            None => run(),
        }
    }
}
