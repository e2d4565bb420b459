use crate::setting::{Axis, Setting};

/// Puts the context in front of sentences, if a comparison has several contexts.
#[derive(Clone, Copy, Debug)]
pub struct Headings<'a> {
    axes: &'a [Axis],
    several: bool,
}

impl<'a> Headings<'a> {
    /// Creates headings for comparisons in `contexts`.
    pub fn of<'b>(axes: &'a [Axis], contexts: impl IntoIterator<Item = &'b Setting>) -> Self {
        let mut contexts = contexts.into_iter();
        let first = contexts.next();
        Self { axes, several: contexts.any(|context| Some(context) != first) }
    }

    /// Returns the sentence `said` with its context in front, as in `Dropout 0.5: …`, or `said` alone if there is
    /// only one context.
    pub fn head(self, context: &Setting, said: &str) -> String {
        let context = context.context(self.axes);
        let mut letters = context.chars();
        match letters.next() {
            Some(first) if self.several => {
                let first: String = first.to_uppercase().collect();
                format!("{first}{}: {said}", letters.as_str())
            }
            _ => said.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Role;

    #[test]
    fn a_context_is_named_where_there_is_another() {
        let axes = [Axis::new("dropout", Role::Each, [0.0, 0.5])];
        let [none, half] = [0.0, 0.5].map(|rate| Setting::new([("dropout", rate)]));
        let several = Headings::of(&axes, [&none, &half, &half]);
        assert_eq!(several.head(&none, "It is so."), "Dropout 0: It is so.");
        assert_eq!(Headings::of(&axes, [&half, &half]).head(&half, "It is so."), "It is so.");
        assert_eq!(Headings::of(&axes, []).head(&half, "It is so."), "It is so.");
        let nothing = Setting::default();
        assert_eq!(Headings::of(&[], [&nothing]).head(&nothing, "It is so."), "It is so.");
    }
}
