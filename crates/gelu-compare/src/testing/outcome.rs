//! How a program ended.

use std::process::Output;

/// How the program ended.
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

    /// Standard output of a run that has to succeed.
    #[track_caller]
    pub fn success(self) -> String {
        assert_eq!(self.code(), 0, "{}{}", self.stdout(), self.stderr());
        self.stdout()
    }

    /// Standard error of a run that has to end with `code` and say `text`.
    #[track_caller]
    pub fn refused(self, code: i32, text: &str) -> String {
        let said = self.stderr();
        assert_eq!(self.code(), code, "{said}");
        assert!(said.contains(text), "expected {text:?} in: {said}");
        assert!(!said.contains("panicked"), "{said}");
        said
    }
}
