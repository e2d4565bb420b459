//! What was meant by a name that nothing has.

/// Slips of the pen that a name may have: characters inserted, left out, replaced or swapped.
const SLIPS: usize = 2;

/// That nothing is called `given`, what was probably meant, and what there is.
pub(crate) fn unknown(what: &str, given: &str, names: &[&str]) -> String {
    let lower = given.to_ascii_lowercase();
    let distance = |name: &str| match strsim::osa_distance(&lower, name) {
        // Of a short name two slips leave nothing.
        slips if slips <= SLIPS && 2 * slips < name.len() => Some(slips),
        _ => None,
    };
    // `mnist` is meant for `mnist-classifier`, and for others of that family.
    let family = |name: &str| name.split_once('-').and_then(|(first, _)| distance(first));
    let of_any = |name: &&str| distance(name).or_else(|| Some(SLIPS + 1 + family(name)?));
    let nearest = names.iter().filter_map(of_any).min();
    let meant = names.iter().filter(|name| of_any(name) == nearest && nearest.is_some());
    let meant: Vec<String> = meant.map(|name| format!("`{name}`")).collect();
    let known = names.join(", ");
    let given = given.escape_debug();
    match &meant[..] {
        [] => format!("unknown {what} `{given}`; there are: {known}"),
        [one] => format!("unknown {what} `{given}`; did you mean {one}? There are: {known}"),
        [first @ .., last] => {
            let first = first.join(", ");
            format!("unknown {what} `{given}`; did you mean {first} or {last}? There are: {known}")
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
