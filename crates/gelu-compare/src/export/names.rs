//! Converts names to names that MLflow accepts.

use std::collections::{HashMap, HashSet};

/// The longest name that the server accepts.
const LONGEST: usize = 250;

/// Returns, for each name, a unique name that MLflow accepts. Such names consist of letters, digits, `_`, `-`, `.`,
/// `/` and blanks, and would not be another path (mlflow/utils/validation.py): `hits@10` becomes `hits_10`, `/lead`
/// becomes `lead`.
pub(super) fn clean<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, String> {
    let names: Vec<&str> = names.collect();
    let as_they_are = names.iter().filter(|name| cleaned(name) == **name);
    let mut taken: HashSet<String> = as_they_are.map(|name| (*name).to_owned()).collect();
    let mut all = HashMap::new();
    for name in names {
        let mut clean = cleaned(name);
        if clean != name && !all.contains_key(name) {
            let base = clean.clone();
            let mut number = 1;
            while !taken.insert(clean.clone()) {
                number += 1;
                clean = format!("{base}_{number}");
            }
        }
        all.entry(name).or_insert(clean);
    }
    all
}

fn cleaned(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || "_-. /".contains(c) {
        true => c,
        false => '_',
    };
    // This leaves room for `reported/` before the name and a number after it.
    let name: String = name.chars().map(plain).take(LONGEST - 20).collect();
    let parts = name.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    let joined = parts.collect::<Vec<_>>().join("/");
    if joined.trim().is_empty() { "_".to_owned() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_as_the_server_takes_and_no_two_are_alike() {
        let names = [
            ("loss", "loss"),
            ("hits@10", "hits_10"),
            ("f1,macro", "f1_macro_2"),
            ("f1_macro", "f1_macro"),
            ("f1+macro", "f1_macro_3"),
            ("acc%", "acc_"),
            ("/lead", "lead_2"),
            ("lead", "lead"),
            ("a//b/../c", "a/b/c"),
            ("./", "_"),
            ("ä", "__2"),
            ("val.loss", "val.loss"),
        ];
        let clean = clean(names.iter().map(|(name, _)| *name));
        for (name, expected) in names {
            assert_eq!(clean[name], expected, "{name}");
        }
        let long = "x".repeat(999);
        assert!(super::clean([long.as_str()].into_iter())[long.as_str()].len() <= LONGEST - 20);
    }
}
