/// The description of a data set that this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSetInfo {
    /// The name in recipes.
    pub name: &'static str,
    /// A short description.
    pub what: &'static str,
    /// The source and the licence.
    pub origin: &'static str,
    /// How to get the data.
    pub how: &'static str,
    /// Whether the data are generated.
    pub synthetic: bool,
    /// The kind of the examples.
    pub kind: DataKind,
    /// The word for the examples: `pictures`, `words`.
    pub examples: &'static str,
}

/// The kind of a data set's examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Images of one size.
    Pictures,
    /// Vectors, possibly with neighbours and in groups.
    Windows,
    /// Text as characters.
    Text,
    /// Rows of tables; each run splits them by its seed.
    Tables,
    /// Points with the values of formulas.
    Points,
}
