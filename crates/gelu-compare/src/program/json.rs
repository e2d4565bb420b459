//! Reads JSON as programs write it, including `NaN`, `inf` and other numbers that JSON does not have.

use crate::scores::number::number;

/// The limit for nested objects and lists.
const DEEPEST: usize = 64;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Leaf {
    /// A number; true and false are 1 and 0.
    Number(f64),
    /// Any other value, as written.
    Other(String),
}

/// Returns the fields of an object with their values. The fields of nested objects have names such as `val.loss`.
pub(super) fn leaves(text: &str) -> Result<Vec<(String, Leaf)>, String> {
    let mut reader = Reader { text, at: 0, leaves: Vec::new() };
    reader.blanks();
    reader.object("", 0)?;
    reader.blanks();
    match reader.rest().is_empty() {
        true => Ok(reader.leaves),
        false => Err(format!("behind the object stands {}", reader.here())),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    leaves: Vec<(String, Leaf)>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the next text, for an error message.
    fn here(&self) -> String {
        match self.rest() {
            "" => "nothing more: the line ends".to_owned(),
            rest => crate::names::excerpt(rest),
        }
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Consumes the character if it is next, and returns whether it was.
    fn takes(&mut self, c: char) -> bool {
        self.blanks();
        let there = self.rest().starts_with(c);
        self.at += if there { c.len_utf8() } else { 0 };
        there
    }

    fn demand(&mut self, c: char) -> Result<(), String> {
        match self.takes(c) {
            true => Ok(()),
            false => Err(format!("where `{c}` belongs stands {}", self.here())),
        }
    }

    fn object(&mut self, place: &str, depth: usize) -> Result<(), String> {
        self.demand('{')?;
        if self.takes('}') {
            return Ok(());
        }
        loop {
            self.blanks();
            let name = self.string()?;
            let name = if place.is_empty() { name } else { format!("{place}.{name}") };
            self.demand(':')?;
            if let Some(leaf) = self.value(&name, depth)? {
                self.leaves.push((name, leaf));
            }
            if !self.takes(',') {
                return self.demand('}');
            }
        }
    }

    /// Reads a value. Returns `None` for an object, whose fields become separate leaves.
    fn value(&mut self, name: &str, depth: usize) -> Result<Option<Leaf>, String> {
        self.blanks();
        let start = self.at;
        let whole = |reader: &Self| Some(Leaf::Other(reader.text[start..reader.at].to_owned()));
        match self.rest().chars().next() {
            Some('{' | '[') if depth == DEEPEST => {
                Err(format!("it is deeper than {DEEPEST} objects"))
            }
            Some('{') => self.object(name, depth + 1).map(|()| None),
            Some('[') => {
                let before = self.leaves.len();
                self.list(depth + 1)?;
                // Objects in a list have no names, so their leaves are removed.
                self.leaves.truncate(before);
                Ok(whole(self))
            }
            Some('"') => {
                let text = self.string()?;
                // Many programs write a value that is not finite in quotes; it counts as a number.
                let value = number(text.trim()).filter(|value| !value.is_finite());
                Ok(value.map(Leaf::Number).or_else(|| whole(self)))
            }
            _ => self.word().map(Some),
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), String> {
        self.demand('[')?;
        if self.takes(']') {
            return Ok(());
        }
        loop {
            self.value("", depth)?;
            if !self.takes(',') {
                return self.demand(']');
            }
        }
    }

    fn word(&mut self) -> Result<Leaf, String> {
        let ends = |c: char| c.is_whitespace() || ",:{}[]\"".contains(c);
        let rest = self.rest();
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let leaf = match word {
            "true" => Leaf::Number(1.0),
            "false" => Leaf::Number(0.0),
            "null" => Leaf::Other(word.to_owned()),
            _ => match number(word) {
                Some(value) => Leaf::Number(value),
                None => return Err(format!("where a value belongs stands {}", self.here())),
            },
        };
        self.at += word.len();
        Ok(leaf)
    }

    fn string(&mut self) -> Result<String, String> {
        let rest = self.rest();
        if !rest.starts_with('"') {
            return Err(format!(
                "where a name in \"double quotes\" belongs stands {}",
                self.here()
            ));
        }
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else {
            return Err(format!("a quote is not closed: {}", self.here()));
        };
        self.at += end + 1;
        let quoted = &rest[..=end];
        // A string with a tab, which JSON does not allow, is taken unchanged.
        Ok(serde_json::from_str(quoted).unwrap_or_else(|_| quoted[1..end].to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};

    fn numbers(text: &str) -> Vec<(String, String)> {
        let shown = |(name, leaf)| match leaf {
            Leaf::Number(number) => (name, number.to_string()),
            Leaf::Other(text) => (name, text),
        };
        leaves(text).unwrap().into_iter().map(shown).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_is_no_number_is_known_wherever_it_stands() {
        let read = numbers(
            r#"{"loss":NaN, "note": "loss is NaN, or -Infinity", "each":[NaN,1, {"a": inf}], "x" : -nan , "y":[],
            "z": "1.#QNAN", "w":1e400}"#,
        );
        let expected = [
            ("loss", "NaN"),
            ("note", "\"loss is NaN, or -Infinity\""),
            ("each", "[NaN,1, {\"a\": inf}]"),
            ("x", "NaN"),
            ("y", "[]"),
            ("z", "NaN"),
            ("w", "inf"),
        ];
        assert_eq!(read, pairs(&expected));
    }

    #[test]
    fn objects_in_objects_have_names_with_dots() {
        let read = numbers(
            r#"{"epoch": 3, "val": {"loss": 0.5, "by": {"a\"b": true}}, "none": {}, "n": null}"#,
        );
        let expected = [("epoch", "3"), ("val.loss", "0.5"), ("val.by.a\"b", "1"), ("n", "null")];
        assert_eq!(read, pairs(&expected));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (text, problem) in [
            (r#"{"loss": 0.5"#, "where `}` belongs stands nothing more: the line ends"),
            (r#"{"loss": 0.5} done"#, "behind the object stands `done`"),
            (r#"{'loss': 0.5}"#, "\"double quotes\" belongs stands `\\'loss\\': 0.5}`"),
            (r#"{"loss": N/A}"#, "where a value belongs stands `N/A}`"),
            (r#"{"loss": 0,5}"#, "\"double quotes\" belongs stands `5}`"),
            (r#"{"lo"#, "a quote is not closed"),
            ("", "where `{` belongs"),
        ] {
            let error = leaves(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
        let deep = "{\"a\":".repeat(100_000);
        assert!(leaves(&deep).unwrap_err().contains("deeper than 64"));
        assert!(
            leaves(&format!("{{\"a\": {}", "[".repeat(100_000))).unwrap_err().contains("deeper")
        );
    }

    /// Plain JSON must be read as serde_json reads it.
    #[test]
    fn plain_json_is_read_as_another_reader_reads_it() {
        fn flat(place: &str, object: &Map<String, Value>, all: &mut Vec<(String, Option<f64>)>) {
            for (name, value) in object {
                let name = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                match value {
                    Value::Object(inner) => flat(&name, inner, all),
                    Value::Bool(flag) => all.push((name, Some(f64::from(u8::from(*flag))))),
                    value => all.push((name, value.as_f64())),
                }
            }
        }
        let mut all = Vec::new();
        let text = r#" { "ä\u00e9\n" : -0.0,"b":{"c":[1,[2,{"d":"]}"}]],"e":1E-7,"f":"\\\""},"g":false, "h":123456789012345678901 } "#;
        flat("", &serde_json::from_str(text).unwrap(), &mut all);
        let mut ours: Vec<(String, Option<f64>)> = leaves(text)
            .unwrap()
            .into_iter()
            .map(|(name, leaf)| match leaf {
                Leaf::Number(number) => (name, Some(number)),
                Leaf::Other(_) => (name, None),
            })
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        ours.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(ours, all);
    }
}
