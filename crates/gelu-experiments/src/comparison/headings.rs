/// Heads what is said of a comparison with its dropout rate, where there are several.
#[derive(Clone, Copy, Debug)]
pub struct Headings {
    several: bool,
}

impl Headings {
    /// For comparisons at these dropout rates.
    pub fn of(rates: impl IntoIterator<Item = f64>) -> Self {
        let mut rates = rates.into_iter();
        let first = rates.next();
        Self { several: rates.any(|rate| Some(rate) != first) }
    }

    /// What is said of the comparison at that dropout rate: `Dropout 0.5: …`, or as it is where
    /// there is no other rate.
    pub fn head(self, dropout: f64, said: &str) -> String {
        match self.several {
            true => format!("Dropout {dropout}: {said}"),
            false => said.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_named_where_there_is_another() {
        assert_eq!(Headings::of([0.0, 0.5, 0.5]).head(0.0, "It is so."), "Dropout 0: It is so.");
        assert_eq!(Headings::of([0.5, 0.5]).head(0.5, "It is so."), "It is so.");
        assert_eq!(Headings::of([]).head(0.5, "It is so."), "It is so.");
    }
}
