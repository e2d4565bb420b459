//! TIMIT's `.PHN` files: the phone heard in each range of samples.
//!
//! ```text
//! 0 3050 h#
//! 3050 4559 sh            first sample, first sample after it, one of the 61 phones
//! ```
//!
//! The extension may be in upper or lower case, and lines may end with or without a carriage return.

use super::super::text::{from_utf8, shown};
use super::phones::Phone;
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::ops::Range;
use std::path::Path;

/// A range of samples with one phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The samples, counted from 0.
    pub samples: Range<u64>,
    /// The phone.
    pub phone: Phone,
}

/// Parses the content of a file; error messages name `path`.
///
/// # Errors
///
/// If the content is not UTF-8, a line is not two numbers and a phone, a segment is empty or does not begin and end
/// after the previous one, or there is no segment.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Segment>> {
    let mut segments: Vec<Segment> = Vec::new();
    for (index, line) in from_utf8(path, bytes)?.lines().enumerate() {
        let refuse = |problem| {
            let advice = "a line is a first sample, an end and one of TIMIT's 61 phones";
            Err(Error::data(path, Place::Line(index + 1), problem, advice))
        };
        let mut parts = line.split_ascii_whitespace();
        let (start, end, name) = match [parts.next(), parts.next(), parts.next(), parts.next()] {
            [None, ..] => continue,
            [Some(start), Some(end), Some(name), None] => (start, end, name),
            _ => return refuse(format!("{} is not two numbers and a phone", shown(line))),
        };
        let (Ok(first), Ok(end)) = (start.parse::<u64>(), end.parse::<u64>()) else {
            let problem = format!("{} and {} are no samples", shown(start), shown(end));
            return refuse(problem);
        };
        let Some(phone) = Phone::named(name) else {
            return refuse(format!("{} is none of the 61 phones", shown(name)));
        };
        if first >= end {
            return refuse(format!("the phone ends at {end}, not after its start at {first}"));
        }
        if let Some(last) = segments.last()
            && (first <= last.samples.start || end <= last.samples.end)
        {
            let Range { start, end: stop } = last.samples;
            return refuse(format!("{first} to {end} does not follow {start} to {stop} above it"));
        }
        segments.push(Segment { samples: first..end, phone });
    }
    match segments.is_empty() {
        true => Err(Error::data(path, Place::File, "holds no phone", "copy it again")),
        false => Ok(segments),
    }
}

/// Returns the phone at a sample, if there is one; if two overlap, the earlier one.
pub fn phone_at(segments: &[Segment], sample: u64) -> Option<Phone> {
    let index = segments.partition_point(|segment| segment.samples.end <= sample);
    segments.get(index).filter(|s| s.samples.contains(&sample)).map(|segment| segment.phone)
}

/// Returns segments as the content of a file.
pub fn to_text(segments: &[Segment]) -> String {
    let line = |s: &Segment| format!("{} {} {}\n", s.samples.start, s.samples.end, s.phone.name());
    segments.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Segment>> {
        parse(Path::new("a.PHN"), text.as_bytes())
    }

    fn problem(text: &str) -> String {
        of(text).unwrap_err().to_string()
    }

    #[test]
    fn the_phone_at_a_sample_is_that_of_its_segment() {
        let segments = of("0 10 h#\r\n10 12 sh\n\n15 20 q\n").unwrap();
        let at = |sample| phone_at(&segments, sample).map(Phone::name);
        assert_eq!([0, 9, 10, 11].map(at), [Some("h#"), Some("h#"), Some("sh"), Some("sh")]);
        assert_eq!([12, 14, 15, 19, 20].map(at), [None, None, Some("q"), Some("q"), None]);
        assert_eq!(of(&to_text(&segments)).unwrap(), segments);
    }

    #[test]
    fn damage_is_named_with_its_line() {
        assert!(problem("0 10 h#\n10 sh\n").contains("line 2: `10 sh` is not two numbers"));
        assert!(problem("0 10 h# x\n").contains("is not two numbers and a phone"));
        assert!(problem("0 10 zz\n").contains("line 1: `zz` is none of the 61 phones"));
        assert!(problem("0 -1 h#\n").contains("`0` and `-1` are no samples"));
        assert!(problem("0 99999999999999999999 h#\n").contains("are no samples"));
        assert!(problem("5 5 h#\n").contains("ends at 5, not after its start at 5"));
        assert!(problem("5 9 h#\n5 12 sh\n").contains("line 2: 5 to 12 does not follow 5 to 9"));
        assert!(problem("0 10 h#\n9 10 sh\n").contains("9 to 10 does not follow 0 to 10"));
        assert!(of("0 10 h#\n9 12 sh\n").is_ok(), "an overlap is no disorder");
        assert!(problem(" \n").contains("holds no phone"));
        let binary = parse(Path::new("a"), b"0 1 h#\n\xfe").unwrap_err().to_string();
        assert!(binary.contains("line 2: byte 0xfe"), "{binary}");
    }
}
