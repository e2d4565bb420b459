/// The units that the scores of a comparison belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// Seeds, the same for both settings.
    #[default]
    Seeds,
    /// Seeds; the baseline is a number.
    Target,
    /// Tasks; scores are differences, and the baseline is 0.
    Tasks,
}

impl Sample {
    /// Returns the word for one unit: `seed` or `task`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Seeds | Self::Target => "seed",
            Self::Tasks => "task",
        }
    }
}
