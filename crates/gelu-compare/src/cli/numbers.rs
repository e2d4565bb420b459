//! Parsers of numeric arguments. Their errors say what is expected.

use crate::measure::NoWorse;
use std::ops::RangeInclusive;

/// Parses a number: `0.1`, `1e-3`. Accepts not-a-number and infinities; the code that uses the number refuses them
/// where they make no sense.
///
/// # Errors
///
/// Returns what is expected if `text` is not a number.
pub fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it has to be a number, as in 0.1 or 1e-3".to_owned())
}

/// Parses a metric that must not get worse, with its margin: `loss=0.002`.
///
/// # Errors
///
/// Returns what is expected if `text` has another form.
pub fn no_worse(text: &str) -> Result<NoWorse, String> {
    let parts = text.rsplit_once('=').filter(|(metric, _)| !metric.trim().is_empty());
    let (metric, margin) =
        parts.ok_or("a metric and by how much it may get worse, as in loss=0.002")?;
    Ok(NoWorse { metric: metric.trim().to_owned(), margin: number(margin.trim())? })
}

/// Parses a whole number; 0 is allowed.
///
/// # Errors
///
/// Returns what is expected if `text` is not a whole number, or is too large for `T`.
pub fn count<T: TryFrom<u64> + 'static>(text: &str) -> Result<T, String> {
    whole(0..=u64::MAX)(text)
}

/// Returns a parser of whole numbers in `range`, for clap. Its error says what is expected.
pub fn whole<T: TryFrom<u64> + 'static>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            let (first, last) = (range.start(), range.end());
            match *last {
                u64::MAX => format!("it has to be a whole number, at least {first}"),
                _ => format!("it has to be a whole number from {first} to {last}"),
            }
        })
    }
}

/// Returns the error messages of `command` and its subcommands that come directly from a number parser. Such a
/// message names neither what is expected nor an example. Every flag that takes a value gets an invalid one.
#[cfg(test)]
pub(crate) fn raw_refusals(command: &clap::Command) -> Vec<String> {
    let mut found = Vec::new();
    for of_group in command.get_subcommands() {
        found.extend(raw_refusals(of_group));
    }
    let flags = command.get_arguments().filter(|arg| arg.get_action().takes_values());
    for flag in flags.filter_map(|arg| arg.get_long()) {
        let given = [command.get_name().to_owned(), format!("--{flag}=1x")];
        let Err(error) = command.clone().try_get_matches_from(given) else { continue };
        let said = error.to_string();
        let of_parsers = ["invalid digit", "invalid float", "cannot parse", "too large to fit"];
        if of_parsers.iter().any(|words| said.contains(words)) {
            found.push(said);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_refused_with_what_is_expected() {
        assert_eq!(number("1e-3"), Ok(1e-3));
        assert!(number("nan").unwrap().is_nan());
        for text in ["x", "", "1,5", "0x10", "1e"] {
            assert_eq!(number(text).unwrap_err(), "it has to be a number, as in 0.1 or 1e-3");
        }
        let jobs = whole::<u16>(1..=65535);
        assert_eq!((jobs("1"), jobs("65535")), (Ok(1), Ok(65535)));
        for text in ["0", "65536", "-1", "1.5", "many", "99999999999999999999"] {
            let said = jobs(text).unwrap_err();
            assert_eq!(said, "it has to be a whole number from 1 to 65535", "{text}");
        }
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        let said = count::<usize>("x").unwrap_err();
        assert_eq!(said, "it has to be a whole number, at least 0");
    }
}
