use crate::names::printable;
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The time limit of a job in Slurm's format: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`,
/// `days-hours:minutes` or `days-hours:minutes:seconds`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    text: String,
    seconds: u64,
}

impl TimeLimit {
    /// Returns the limit in seconds.
    pub fn seconds(&self) -> u64 {
        self.seconds
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for TimeLimit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match seconds(text) {
            Some(seconds) if seconds > 0 => Ok(Self { text: text.to_owned(), seconds }),
            _ => Err(Error::Usage(format!(
                "`{}` is no time limit; Slurm writes 30 (minutes), 30:00, 4:00:00, 2-12 (days and hours) \
                 or 2-12:30:00",
                printable(text)
            ))),
        }
    }
}

fn seconds(text: &str) -> Option<u64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(number(days)?), clock),
        None => (None, text),
    };
    let parts = clock.split(':').map(number).collect::<Option<Vec<u64>>>()?;
    let [hours, minutes, seconds] = match (days, &parts[..]) {
        (None, [minutes]) => [0, *minutes, 0],
        (None, [minutes, seconds]) => [0, *minutes, *seconds],
        (Some(_), [hours]) => [*hours, 0, 0],
        (Some(_), [hours, minutes]) => [*hours, *minutes, 0],
        (_, [hours, minutes, seconds]) => [*hours, *minutes, *seconds],
        _ => return None,
    };
    Some(((days.unwrap_or(0) * 24 + hours) * 60 + minutes) * 60 + seconds)
}

/// Parses digits only, at most nine of them, so that no sum overflows.
fn number(digits: &str) -> Option<u64> {
    let plain = (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_slurms_manual_is_read() {
        // man sbatch: "A time limit ... Acceptable time formats include ..."
        for (text, seconds) in [
            ("30", 1_800),
            ("30:15", 1_815),
            ("4:00:00", 14_400),
            ("2-12", 216_000),
            ("2-12:30", 217_800),
            ("2-12:30:05", 217_805),
        ] {
            let limit: TimeLimit = text.parse().unwrap();
            assert_eq!((limit.seconds(), limit.to_string()), (seconds, text.to_owned()));
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_forms_there_are() {
        for text in [
            "",
            "0",
            "00:00",
            "-1",
            "1h",
            "1:2:3:4",
            "1-",
            "+5",
            "1 --uid=0",
            "30\n",
            "99999999999",
        ] {
            let error = text.parse::<TimeLimit>().unwrap_err().to_string();
            assert!(error.contains("2-12:30:00") && !error.contains('\n'), "{text:?}: {error}");
        }
    }
}
