//! The 61 phones of TIMIT's transcriptions, and the 39 classes used for results.
//!
//! Lee and Hon, Speaker-Independent Phone Recognition Using Hidden Markov Models, IEEE Transactions on Acoustics,
//! Speech, and Signal Processing 37(11), 1989: closures, pauses and silence become `sil`, allophones share a class,
//! and the glottal stop `q` is left out.

/// The 39 classes, in alphabetical order; a label is an index into this list.
pub const FOLDED: [&str; 39] = [
    "aa", "ae", "ah", "aw", "ay", "b", "ch", "d", "dh", "dx", "eh", "er", "ey", "f", "g", "hh",
    "ih", "iy", "jh", "k", "l", "m", "n", "ng", "ow", "oy", "p", "r", "s", "sh", "sil", "t", "th",
    "uh", "uw", "v", "w", "y", "z",
];

/// The 61 phones and the class of each.
pub const PHONES: [(&str, Option<&str>); 61] = [
    ("aa", Some("aa")),
    ("ae", Some("ae")),
    ("ah", Some("ah")),
    ("ao", Some("aa")),
    ("aw", Some("aw")),
    ("ax", Some("ah")),
    ("ax-h", Some("ah")),
    ("axr", Some("er")),
    ("ay", Some("ay")),
    ("b", Some("b")),
    ("bcl", Some("sil")),
    ("ch", Some("ch")),
    ("d", Some("d")),
    ("dcl", Some("sil")),
    ("dh", Some("dh")),
    ("dx", Some("dx")),
    ("eh", Some("eh")),
    ("el", Some("l")),
    ("em", Some("m")),
    ("en", Some("n")),
    ("eng", Some("ng")),
    ("epi", Some("sil")),
    ("er", Some("er")),
    ("ey", Some("ey")),
    ("f", Some("f")),
    ("g", Some("g")),
    ("gcl", Some("sil")),
    ("h#", Some("sil")),
    ("hh", Some("hh")),
    ("hv", Some("hh")),
    ("ih", Some("ih")),
    ("ix", Some("ih")),
    ("iy", Some("iy")),
    ("jh", Some("jh")),
    ("k", Some("k")),
    ("kcl", Some("sil")),
    ("l", Some("l")),
    ("m", Some("m")),
    ("n", Some("n")),
    ("ng", Some("ng")),
    ("nx", Some("n")),
    ("ow", Some("ow")),
    ("oy", Some("oy")),
    ("p", Some("p")),
    ("pau", Some("sil")),
    ("pcl", Some("sil")),
    ("q", None),
    ("r", Some("r")),
    ("s", Some("s")),
    ("sh", Some("sh")),
    ("t", Some("t")),
    ("tcl", Some("sil")),
    ("th", Some("th")),
    ("uh", Some("uh")),
    ("uw", Some("uw")),
    ("ux", Some("uw")),
    ("v", Some("v")),
    ("w", Some("w")),
    ("y", Some("y")),
    ("z", Some("z")),
    ("zh", Some("sh")),
];

/// One of the 61 phones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phone(u8);

impl Phone {
    /// Returns the phone called `name`.
    pub fn named(name: &str) -> Option<Self> {
        let index = PHONES.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
        Some(Self(index as u8))
    }

    /// Returns the phone's name.
    pub fn name(self) -> &'static str {
        PHONES[usize::from(self.0)].0
    }

    /// Returns the phone's class, an index into [`FOLDED`]; the glottal stop has none.
    pub fn folded(self) -> Option<u8> {
        let class = PHONES[usize::from(self.0)].1?;
        FOLDED.binary_search(&class).ok().map(|index| index as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn both_lists_are_sorted_and_every_phone_finds_its_class() {
        assert!(FOLDED.is_sorted() && PHONES.is_sorted());
        for (index, (name, class)) in PHONES.into_iter().enumerate() {
            let phone = Phone::named(name).unwrap();
            assert_eq!((phone, phone.name()), (Phone(index as u8), name));
            assert_eq!(phone.folded().map(|label| FOLDED[usize::from(label)]), class);
        }
        assert_eq!(Phone::named("AA"), None);
    }

    #[test]
    fn the_groups_are_those_of_lee_and_hon() {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, class) in PHONES {
            groups.entry(class.unwrap_or("-")).or_default().push(name);
        }
        assert_eq!(groups.len(), 40, "39 classes and what is left out");
        groups.retain(|class, members| members[..] != [*class]);
        // Table I of the paper, without the classes whose only member has the same name.
        let expected = BTreeMap::from([
            ("-", vec!["q"]),
            ("aa", vec!["aa", "ao"]),
            ("ah", vec!["ah", "ax", "ax-h"]),
            ("er", vec!["axr", "er"]),
            ("hh", vec!["hh", "hv"]),
            ("ih", vec!["ih", "ix"]),
            ("l", vec!["el", "l"]),
            ("m", vec!["em", "m"]),
            ("n", vec!["en", "n", "nx"]),
            ("ng", vec!["eng", "ng"]),
            ("sh", vec!["sh", "zh"]),
            ("sil", vec!["bcl", "dcl", "epi", "gcl", "h#", "kcl", "pau", "pcl", "tcl"]),
            ("uw", vec!["uw", "ux"]),
        ]);
        assert_eq!(groups, expected);
    }
}
