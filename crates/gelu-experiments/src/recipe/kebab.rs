//! Enums of other crates in recipes: `pre-activation` for `PreActivation`.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a variant without fields in small letters.
pub(super) fn serialize<T: Serialize, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    let name = serde_json::to_value(value).map_err(serde::ser::Error::custom)?;
    let name = name.as_str().ok_or_else(|| serde::ser::Error::custom("a variant has fields"))?;
    to.serialize_str(&kebab(name))
}

/// Reads a variant without fields from its name in small letters.
pub(super) fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let text = String::deserialize(from)?;
    let camel: String = text.split('-').map(capitalised).collect();
    // `Layer` itself is no name in a recipe; no variant is called nothing.
    let name = if kebab(&camel) == text { camel } else { String::new() };
    serde_json::from_value(name.into()).map_err(|error| {
        let message = in_kebab(&error.to_string());
        D::Error::custom(message.replace("``", &format!("`{text}`")))
    })
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn kebab(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push('-');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// A message of serde's, with the names of variants as recipes have them.
fn in_kebab(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let parts =
        parts.map(|(index, part)| if index % 2 == 1 { kebab(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gelu_models::BlockOrder;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Recipe {
        #[serde(with = "super")]
        order: BlockOrder,
    }

    #[test]
    fn variants_have_small_letters_and_others_are_refused_by_name() {
        for (order, text) in
            [(BlockOrder::Paper, "paper"), (BlockOrder::PreActivation, "pre-activation")]
        {
            let written = toml::to_string(&Recipe { order }).unwrap();
            assert_eq!(written.trim(), format!("order = \"{text}\""));
            assert_eq!(toml::from_str::<Recipe>(&written).unwrap(), Recipe { order });
        }
        for wrong in ["post", "Paper", "preactivation", ""] {
            let error = toml::from_str::<Recipe>(&format!("order = \"{wrong}\"")).unwrap_err();
            let said = error.to_string();
            assert!(said.contains("`paper` or `pre-activation`"), "{said}");
            assert!(said.contains(&format!("unknown variant `{wrong}`")), "{said}");
        }
    }
}
