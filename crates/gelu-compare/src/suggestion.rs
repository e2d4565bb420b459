//! Suggestions for unknown names.

/// The number of typing errors that a name may have: inserted, missing, replaced or swapped characters.
const SLIPS: usize = 2;

/// Returns the names that `given` was probably meant for: those with at most two characters inserted, missing,
/// replaced or swapped, and fewer than half of the name's. If no name is that near, a name's first part, up to a `-`,
/// counts as the name: `mnst` matches `mnist-classifier`, and others of that family.
pub fn nearest<'a>(given: &str, names: &[&'a str]) -> Vec<&'a str> {
    let lower = given.to_ascii_lowercase();
    let distance = |name: &str| match strsim::osa_distance(&lower, &name.to_ascii_lowercase()) {
        // Two errors in a short name leave nothing of it.
        slips if slips <= SLIPS && 2 * slips < name.len() => Some(slips),
        _ => None,
    };
    let family = |name: &str| name.split_once('-').and_then(|(first, _)| distance(first));
    let of_any = |name: &str| distance(name).or_else(|| Some(SLIPS + 1 + family(name)?));
    let nearest = names.iter().filter_map(|name| of_any(name)).min();
    names.iter().copied().filter(|name| nearest.is_some() && of_any(name) == nearest).collect()
}

/// Returns the question ``did you mean `relu`?``, with all [`nearest`] names; `None` where no name is near.
pub fn did_you_mean(given: &str, names: &[&str]) -> Option<String> {
    let meant: Vec<String> =
        nearest(given, names).into_iter().map(|name| format!("`{name}`")).collect();
    match &meant[..] {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        [first @ .., last] => Some(format!("did you mean {} or {last}?", first.join(", "))),
    }
}

/// Returns the error message for an unknown name, with suggestions and all known `names`.
pub fn unknown(what: &str, given: &str, names: &[&str]) -> String {
    let known = names.join(", ");
    let given_as_typed = given.escape_debug();
    match did_you_mean(given, names) {
        None => format!("unknown {what} `{given_as_typed}`; there are: {known}"),
        Some(question) => {
            format!("unknown {what} `{given_as_typed}`; {question} There are: {known}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names_are_suggested_and_no_others() {
        let names = ["digits", "mnist-script", "mnist-classifier", "cifar10", "idx"];
        for (given, meant) in [
            ("digit", "did you mean `digits`? There"),
            ("Digits", "did you mean `digits`? There"),
            ("mnist-clasifier", "did you mean `mnist-classifier`? There"),
            ("mnst", "did you mean `mnist-script` or `mnist-classifier`? There"),
            ("cifar01", "did you mean `cifar10`? There"),
            ("ab", "`ab`; there are: digits, mnist-script"),
            ("imagenet", "`imagenet`; there are: digits"),
        ] {
            let said = unknown("thing", given, &names);
            assert!(said.contains(meant), "{said}");
        }
    }
}
