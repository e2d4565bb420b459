/// A data set this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSetInfo {
    /// The name recipes call it by.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Where it comes from, and under which licence.
    pub origin: &'static str,
    /// How it gets here.
    pub how: &'static str,
    /// Whether it is generated.
    pub synthetic: bool,
    /// What its examples are.
    pub kind: DataKind,
    /// What they are called: `pictures`, `words`.
    pub examples: &'static str,
}

/// What the examples of a data set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Pictures of one size.
    Pictures,
    /// Vectors, with their neighbours and in groups where they have some.
    Windows,
    /// Text by characters.
    Text,
    /// Rows of tables, which each run splits by its seed.
    Tables,
    /// Points where formulas have values.
    Points,
}
