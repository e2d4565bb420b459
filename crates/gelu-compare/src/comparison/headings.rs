use crate::setting::{Axis, Setting};

/// Heads what is said of a comparison with what it holds at, where that is not the same of all.
#[derive(Clone, Copy, Debug)]
pub struct Headings<'a> {
    axes: &'a [Axis],
    several: bool,
}

impl<'a> Headings<'a> {
    /// For comparisons in these contexts.
    pub fn of<'b>(axes: &'a [Axis], contexts: impl IntoIterator<Item = &'b Setting>) -> Self {
        let mut contexts = contexts.into_iter();
        let first = contexts.next();
        Self { axes, several: contexts.any(|context| Some(context) != first) }
    }

    /// What is said of the comparison there: `Dropout 0.5: …`, or as it is where there is no other
    /// context.
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
