//! Parses numbers as programs print them.

/// Returns the number in a text, in any program's spelling: `-1`, `1e-05`, `nan`, `Infinity`, `-nan(ind)`, `1.#QNAN`.
/// A number beyond all doubles, such as `1e400`, is infinite. Returns `None` for any other text.
pub(crate) fn number(text: &str) -> Option<f64> {
    // C libraries may add a suffix in parentheses to NaN.
    let plain =
        text.strip_suffix(')').and_then(|text| text.split_once('(')).map_or(text, |(name, _)| name);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match plain.split_once(".#") {
        Some((digits, word)) if digits.trim_start_matches(['+', '-']) == "1" => {
            let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
            match word.to_ascii_uppercase().as_str() {
                "INF" => Some(sign * f64::INFINITY),
                "QNAN" | "SNAN" | "IND" | "NAN" => Some(f64::NAN),
                _ => None,
            }
        }
        Some(_) => None,
        None if plain == text => text.parse().ok(),
        None => plain.parse().ok().filter(|value: &f64| value.is_nan()),
    }
}

/// A regular expression without groups that matches what [`number`] accepts.
pub(crate) const NUMBER: &str = r"(?i-u:[+-]?(?:1\.#[a-z]+[0-9]*|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan(?:\([a-z0-9_]*\))?|infinity|inf))";

/// Returns whether the text after a number continues it: `0,301` is not 0, and `9.1e-05` is not 9.1.
pub(crate) fn goes_on(behind: &str) -> bool {
    let mut next = behind.chars();
    match next.next() {
        Some(c) if c.is_ascii_digit() => true,
        Some(',' | '.') => next.next().is_some_and(|c| c.is_ascii_digit()),
        Some('e' | 'E') => next.next().is_some_and(|c| c.is_ascii_digit() || "+-".contains(c)),
        _ => false,
    }
}

/// Returns whether the text before a number belongs to it, as in `234.5` from `1,234.5`.
pub(crate) fn began_before(before: &str) -> bool {
    let mut last = before.chars().rev();
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match last.next() {
        Some(',' | '.' | 'e' | 'E') => digit(last.next()),
        other => digit(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spellings of C (printf of glibc, and of Microsoft's library before 2015), Python, JavaScript, Java and Go.
    const NOT_FINITE: [(&str, f64); 18] = [
        ("nan", f64::NAN),
        ("NaN", f64::NAN),
        ("-nan", f64::NAN),
        ("NAN", f64::NAN),
        ("-nan(ind)", f64::NAN),
        ("nan(snan)", f64::NAN),
        ("1.#QNAN", f64::NAN),
        ("1.#QNAN0", f64::NAN),
        ("-1.#IND", f64::NAN),
        ("1.#SNAN", f64::NAN),
        ("1.#INF", f64::INFINITY),
        ("-1.#INF00", f64::NEG_INFINITY),
        ("inf", f64::INFINITY),
        ("+Inf", f64::INFINITY),
        ("Infinity", f64::INFINITY),
        ("-Infinity", f64::NEG_INFINITY),
        ("1e400", f64::INFINITY),
        ("-1E+999", f64::NEG_INFINITY),
    ];

    #[test]
    fn every_spelling_of_a_number_is_read_by_both() {
        let whole = regex::Regex::new(&format!("^{NUMBER}$")).unwrap();
        let finite = [
            ("0.301", 0.301),
            ("-1", -1.0),
            ("+2.", 2.0),
            (".5", 0.5),
            ("1e-05", 1e-5),
            ("3E+7", 3e7),
        ];
        for (text, value) in NOT_FINITE.into_iter().chain(finite) {
            let read = number(text).unwrap();
            assert!(read == value || read.is_nan() && value.is_nan(), "{text}: {read}");
            assert!(whole.is_match(text), "{text}");
        }
        for text in [
            "", "-", "n/a", "0,3", "1.#", "1.#ABC", "5.#INF", "inf(x)", "1(nan)", "e5", "0x10",
            "None",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_is_whole_or_not_one() {
        for behind in ["301", ",301", ".5", "e-05", "E5", "e+1"] {
            assert!(goes_on(behind), "{behind}");
        }
        for behind in ["", " 3", ", 3", ".", ",", "epochs", "%", "/10", "s"] {
            assert!(!goes_on(behind), "{behind}");
        }
        for (before, began) in
            [("1,", true), ("1", true), ("x1e", true), ("loss ", false), ("a,", false), ("", false)]
        {
            assert_eq!(began_before(before), began, "{before}");
        }
    }
}
