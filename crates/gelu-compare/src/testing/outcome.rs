//! The outcome of a program.

use std::process::Output;

/// The exit status and output of a program.
#[derive(Debug)]
pub struct Outcome(pub Output);

impl Outcome {
    pub fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// Returns standard output. Panics unless the program succeeded.
    #[track_caller]
    pub fn success(self) -> String {
        assert_eq!(self.code(), 0, "{}{}", self.stdout(), self.stderr());
        self.stdout()
    }

    /// Returns standard error. Panics unless the program ended with `code` and standard error contains `text`.
    #[track_caller]
    pub fn refused(self, code: i32, text: &str) -> String {
        let said = self.stderr();
        assert_eq!(self.code(), code, "{said}");
        assert!(said.contains(text), "expected {text:?} in: {said}");
        assert!(!said.contains("panicked"), "{said}");
        said
    }
}
