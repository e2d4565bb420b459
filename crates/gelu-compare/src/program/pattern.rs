use crate::names::excerpt;
use crate::scores::number::{NUMBER, began_before, goes_on, number};
use crate::{Error, Result};
use regex::Regex;
use regex_syntax::hir::{Hir, HirKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A pattern for measures in a line: `val {valid_loss}`. Text matches itself, and white space matches any white
/// space. A name in braces matches a number in any program's spelling; `{epoch}` is the epoch.
///
/// A pattern can also be a regular expression whose named groups are measures: `val=(?<valid_loss>\S+)`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    regex: Regex,
    groups: Vec<Group>,
}

/// A group of the regular expression.
#[derive(Clone, Debug)]
struct Group {
    index: usize,
    measure: String,
    /// The character of the pattern after the number.
    behind: Option<char>,
}

/// Numbers that every measure's group must match.
const ANY: [&str; 3] = ["1e-05", "-1", "nan"];
/// The name of the epoch's number.
const EPOCH: &str = "epoch";

impl Pattern {
    /// Returns the measures that the pattern names.
    pub fn measures(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.measure.as_str()).filter(|name| *name != EPOCH)
    }

    /// Returns the measures in a line, with their texts.
    ///
    /// # Errors
    ///
    /// Returns an error if a number in the line is longer than the match.
    pub fn read<'a>(&'a self, line: &'a str) -> Result<Vec<(&'a str, &'a str)>, String> {
        let Some(found) = self.regex.captures(line) else { return Ok(Vec::new()) };
        let start = found.get(0).map_or(0, |whole| whole.start());
        let mut all = Vec::new();
        for Group { index, measure, behind } in &self.groups {
            let Some(text) = found.get(*index) else { continue };
            let next = &line[text.end()..];
            let goes_on = goes_on(next) && !behind.is_some_and(|behind| next.starts_with(behind));
            let began = text.start() == start && began_before(&line[..start]);
            if number(text.as_str()).is_some() && (goes_on || began) {
                let place = if goes_on { "goes on behind it" } else { "began before it" };
                return Err(format!(
                    "{measure} would be {}, and the number {place}",
                    excerpt(text.as_str())
                ));
            }
            all.push((measure.as_str(), text.as_str()));
        }
        Ok(all)
    }

    /// Compiles a text. Does not check the groups, because an earlier version may have accepted groups that do not
    /// match every number.
    fn compile(text: &str) -> Result<Self, String> {
        let names = placeholders(text);
        let is_regex = text.match_indices("(?").any(|(at, _)| {
            let rest = text[at + 2..].trim_start_matches('P');
            rest.starts_with('<') && !rest.starts_with("<=") && !rest.starts_with("<!")
        });
        match (is_regex, names.is_empty()) {
            (true, true) => Self::of_regex(text),
            // Braces at the beginning, for example, are an error in a regular expression.
            (true, false) => Self::of_regex(text).map_err(|problem| {
                let group = text.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
                group.map_or(problem, |(group, _)| both(names[0].1, group))
            }),
            (false, false) => Self::of_words(text, &names),
            (false, true) => {
                Err("names no metric; write the place of its number as in 'val {valid_loss}'"
                    .to_owned())
            }
        }
    }

    fn of_regex(text: &str) -> Result<Self, String> {
        let regex = Regex::new(text).map_err(|error| format!("cannot be read: {error}"))?;
        let hir = parsed(text)?;
        let mut groups = Vec::new();
        for (index, name) in regex.capture_names().enumerate() {
            let Some(name) = name else { continue };
            let behind = behind(&hir, index);
            groups.push(Group { index, measure: name.to_owned(), behind });
        }
        Ok(Self { text: text.to_owned(), regex, groups })
    }

    fn of_words(text: &str, names: &[(usize, &str)]) -> Result<Self, String> {
        let mut expression = String::new();
        let mut groups = Vec::new();
        let mut end = 0;
        for (index, (start, name)) in names.iter().enumerate() {
            if groups.iter().any(|group: &Group| group.measure == *name) {
                return Err(format!("has {{{name}}} twice"));
            }
            expression += &literal(&text[end..*start]);
            expression += &format!("({NUMBER})");
            end = start + name.len() + 2;
            let behind = text[end..].chars().next().filter(|c| *c != '{');
            groups.push(Group { index: index + 1, measure: (*name).to_owned(), behind });
        }
        expression += &literal(&text[end..]);
        let regex = Regex::new(&expression).map_err(|error| format!("cannot be read: {error}"))?;
        Ok(Self { text: text.to_owned(), regex, groups })
    }

    /// Rejects patterns that only earlier versions accepted.
    fn check(&self) -> Result<(), String> {
        let names = placeholders(&self.text);
        let Some((_, placeholder)) = names.first() else { return self.check_groups() };
        let named = self.regex.capture_names().flatten().next();
        named.map_or(Ok(()), |group| Err(both(placeholder, group)))
    }

    /// Rejects a group that would match only a part of a number, or miss one.
    fn check_groups(&self) -> Result<(), String> {
        let hir = parsed(&self.text)?;
        for Group { index, measure, .. } in &self.groups {
            let Some(inside) = capture(&hir, *index).filter(|_| measure != EPOCH) else { continue };
            let whole =
                Regex::new(&format!("^(?:{inside})$")).map_err(|error| error.to_string())?;
            if let Some(missed) = ANY.iter().find(|text| !whole.is_match(text)) {
                return Err(format!(
                    "has a group {measure} that cannot match {missed}, which a program may print; write \
                     {{{measure}}} where the number stands, and the text around it as it is, as in 'val \
                     {{{measure}}}'"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the error for a text that mixes both kinds of patterns.
fn both(placeholder: &str, group: &str) -> String {
    format!(
        "has {{{placeholder}}}, which is a number in a plain text, and (?<{group}>…), a group of a regular expression; \
         write it as one or the other"
    )
}

/// Returns the names in braces and their positions. Leaves out braces of regular expressions.
fn placeholders(text: &str) -> Vec<(usize, &str)> {
    let name = |(start, _): (usize, &str)| {
        let inside = &text[start + 1..];
        let name = &inside[..inside.find('}')?];
        let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        let plain = |c: char| c.is_alphanumeric() || "_-./@%+".contains(c);
        // These are braces of regular expressions: \p{Greek}, \x{41}, \b{start}
        let mut before = text[..start].chars().rev();
        let of_class =
            before.next().is_some_and(|c| c.is_ascii_alphabetic()) && before.next() == Some('\\');
        (first && name.chars().all(plain) && !of_class).then_some((start, name))
    };
    text.match_indices('{').filter_map(name).collect()
}

/// Returns a text as a regular expression, in which white space matches any white space.
fn literal(text: &str) -> String {
    let mut expression = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_whitespace) {
        expression += &regex::escape(&rest[..start]);
        expression += r"\s+";
        rest = rest[start..].trim_start();
    }
    expression + &regex::escape(rest)
}

fn parsed(text: &str) -> Result<Hir, String> {
    regex_syntax::parse(text).map_err(|error| format!("cannot be read: {error}"))
}

/// Returns the content of a group.
fn capture(hir: &Hir, index: usize) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Capture(group) if group.index as usize == index => Some(&group.sub),
        HirKind::Capture(group) => capture(&group.sub, index),
        HirKind::Repetition(repeated) => capture(&repeated.sub, index),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().find_map(|part| capture(part, index))
        }
        _ => None,
    }
}

/// Returns the character after a group.
fn behind(hir: &Hir, index: usize) -> Option<char> {
    match hir.kind() {
        HirKind::Capture(group) => behind(&group.sub, index),
        HirKind::Repetition(repeated) => behind(&repeated.sub, index),
        HirKind::Alternation(parts) => parts.iter().find_map(|part| behind(part, index)),
        HirKind::Concat(parts) => {
            let is_it = |part: &Hir| matches!(part.kind(), HirKind::Capture(group) if group.index as usize == index);
            let next = parts.iter().position(is_it).and_then(|at| parts.get(at + 1));
            match next.map(Hir::kind) {
                Some(HirKind::Literal(text)) => std::str::from_utf8(&text.0).ok()?.chars().next(),
                Some(_) => None,
                None => parts.iter().find_map(|part| behind(part, index)),
            }
        }
        _ => None,
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Usage(format!("the pattern `{text}` {problem}"));
        let pattern = Self::compile(text).map_err(refuse)?;
        pattern.check().map_err(refuse)?;
        Ok(pattern)
    }
}

impl TryFrom<String> for Pattern {
    type Error = Error;

    /// Parses a pattern from a file. An earlier version may have accepted it, so its groups are not checked.
    fn try_from(text: String) -> Result<Self> {
        Self::compile(&text)
            .map_err(|problem| Error::Usage(format!("the pattern `{text}` {problem}")))
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, line: &str) -> Result<Vec<(String, String)>, String> {
        let pattern: Pattern = pattern.parse().unwrap();
        let read = pattern.read(line)?.into_iter();
        Ok(read.map(|(name, text)| (name.to_owned(), text.to_owned())).collect())
    }

    fn is(name: &str, text: &str) -> Result<Vec<(String, String)>, String> {
        Ok(vec![(name.to_owned(), text.to_owned())])
    }

    #[test]
    fn a_name_in_braces_is_any_number_and_the_text_around_it_is_what_it_is() {
        let pattern = "[epoch {epoch}] val (x+y) {val.loss}";
        let both = read(pattern, ">> [epoch 3]\tval   (x+y) -9.1e-05, done").unwrap();
        assert_eq!(both, [is("epoch", "3").unwrap(), is("val.loss", "-9.1e-05").unwrap()].concat());
        for text in [
            "0.301",
            "+1",
            "-1",
            "1e-05",
            ".5",
            "nan",
            "-nan",
            "NaN",
            "inf",
            "-Infinity",
            "1.#QNAN",
            "1e400",
        ] {
            assert_eq!(read("val {loss}", &format!("val {text}")), is("loss", text));
            assert_eq!(read("val={loss}%", &format!("val={text}% of")), is("loss", text));
        }
        assert_eq!(read("hits@10 {hits@10}", "hits@10 0.5"), is("hits@10", "0.5"));
        assert_eq!(read("{\"a\": {a}}", "{\"a\": 5}"), is("a", "5"));
        for line in ["val", "validation 0.5", "val=0.5", "[epoch 3] train (x+y) 1"] {
            assert_eq!(read("val {loss}", line), Ok(Vec::new()), "{line}");
        }
    }

    #[test]
    fn a_number_that_is_longer_than_what_was_captured_is_a_problem() {
        for line in ["val 0,301", "val 30,100.0", "val 1.2.3", "val 1e5e5", "val 5.e", "val 1.5e+"]
        {
            let whole = ["val 5.e"].contains(&line);
            assert_eq!(read("val {loss}", line).is_ok(), whole, "{line}");
        }
        assert_eq!(read("val {loss}", "val 0.5, 0.4"), is("loss", "0.5"));
        assert_eq!(read("val {loss}", "val 0.5."), is("loss", "0.5"));
        // The character after a placeholder ends the number.
        let table = read("{epoch},{loss}", "1,0.5").unwrap();
        assert_eq!(table, [is("epoch", "1").unwrap(), is("loss", "0.5").unwrap()].concat());
        assert!(read("{loss} of loss", "1,234.5 of loss").unwrap_err().contains("began before it"));
        let group = |text: &str, line: &str| {
            let pattern = Pattern::try_from(text.to_owned()).unwrap();
            pattern.read(line).map(|read| read.len())
        };
        assert_eq!(group(r"(?<epoch>\d+),(?<loss>\S+)", "1,0.5"), Ok(2));
        let problem = group("val (?<loss>[0-9.]+)", "val 9.1e-05").unwrap_err();
        assert_eq!(problem, "loss would be `9.1`, and the number goes on behind it");
    }

    #[test]
    fn named_groups_are_measures_that_can_be_any_number() {
        let pattern = r"epoch (?<epoch>\d+).*val (?<valid_loss>\S+)";
        let read = read(pattern, "[epoch 3] train 0.5 val 0.25 done").unwrap();
        assert_eq!(read, [is("epoch", "3").unwrap(), is("valid_loss", "0.25").unwrap()].concat());
        let bounded: Pattern = r"\b{start}loss[:=] *(?P<loss>[-+0-9.e]+|nan)".parse().unwrap();
        assert_eq!(bounded.read("a loss: 1e-5").unwrap(), [("loss", "1e-5")]);
        assert_eq!(r"Epoch (?<epoch>\d+)/".parse::<Pattern>().unwrap().measures().count(), 0);
        for (text, problem) in [
            ("(", "names no metric"),
            (
                "loss ([0-9]+)",
                "names no metric; write the place of its number as in 'val {valid_loss}'",
            ),
            ("(?<loss>[", "cannot be read"),
            (
                "{epoch} (?<loss>.*)",
                "has {epoch}, which is a number in a plain text, and (?<loss>…)",
            ),
            ("val {loss} {loss}", "has {loss} twice"),
            (
                "val (?<loss>[0-9.]+)",
                "cannot match 1e-05, which a program may print; write {loss} where",
            ),
            ("val (?<loss>[0-9.e-]+)", "cannot match nan"),
            (r"val (?<loss>[\d.e+]+|nan)", "cannot match 1e-05"),
            ("(?:val (?<loss>[0-9.]+))?", "cannot match 1e-05"),
        ] {
            let error = text.parse::<Pattern>().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn patterns_of_earlier_folders_are_still_read() {
        let kept = "val (?<loss>[0-9.]+)";
        let pattern: Pattern = serde_json::from_value(kept.into()).unwrap();
        assert_eq!(pattern.read("val 0.5 x"), Ok(vec![("loss", "0.5")]));
        assert_eq!(serde_json::to_value(&pattern).unwrap(), kept);
    }
}
