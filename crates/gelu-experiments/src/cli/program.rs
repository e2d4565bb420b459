use super::{refuse, run};
use crate::Result;
use burn::tensor::Tensor;
use gelu_learner::activation::register;
use std::process::ExitCode;

/// The whole command line of `gelu` with activations of your own.
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
    /// Creates the program `gelu` without additions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an activation by its name and function; [`register`] lists the conditions on both.
    pub fn activation(
        mut self,
        name: &str,
        function: impl Fn(Tensor<1>) -> Tensor<1> + Send + Sync + 'static,
    ) -> Self {
        let registered: Result<()> = register(name, function);
        self.refused = self.refused.or(registered.err());
        self
    }

    /// Parses the command line, executes it, and returns the exit code.
    pub fn run(self) -> ExitCode {
        match self.refused {
            Some(error) => refuse(&error),
            None => run(),
        }
    }
}
