use gelu_compare::measure::Unit;

/// What is measured of each layer's activation, on the same examples after every epoch.
///
/// A layer is a number of values: what its activation was given, the pre-activations, and what it gave, for
/// every unit and example. Where layers have places, as in pictures, each place of an example counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerMeasure {
    /// The share of outputs that are exactly 0.
    Zeros,
    /// The share of units whose output is 0 for every example: no gradient passes them.
    Dead,
    /// The mean of the pre-activations.
    Mean,
    /// Their standard deviation.
    Deviation,
    /// Their skewness, 0 for a normal distribution.
    Skewness,
    /// Their excess kurtosis, 0 for a normal distribution.
    Kurtosis,
    /// The Euclidean norm of the mean loss's gradient for the pre-activations.
    Gradient,
    /// How many directions the outputs vary in: `(Σλ)²/Σλ²` of the eigenvalues λ of the units' covariance
    /// matrix, from 1 to the number of units (the participation ratio; Gao et al., bioRxiv 214262).
    Rank,
}

impl LayerMeasure {
    /// All, in the order of files and tables.
    pub const ALL: [Self; 8] = [
        Self::Zeros,
        Self::Dead,
        Self::Mean,
        Self::Deviation,
        Self::Skewness,
        Self::Kurtosis,
        Self::Gradient,
        Self::Rank,
    ];

    /// What files call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Dead => "dead",
            Self::Mean => "mean",
            Self::Deviation => "deviation",
            Self::Skewness => "skewness",
            Self::Kurtosis => "kurtosis",
            Self::Gradient => "gradient",
            Self::Rank => "rank",
        }
    }

    /// What headings call it.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Zeros => "outputs that are 0",
            Self::Dead => "dead units",
            Self::Mean => "mean of pre-activations",
            Self::Deviation => "deviation of pre-activations",
            Self::Skewness => "skewness of pre-activations",
            Self::Kurtosis => "excess kurtosis of pre-activations",
            Self::Gradient => "norm of the gradient",
            Self::Rank => "effective rank of outputs",
        }
    }

    /// The unit that its values are said in.
    pub fn unit(self) -> Unit {
        match self {
            Self::Zeros | Self::Dead => Unit { decimals: 1, decimals_alone: 1, ..Unit::points() },
            _ => Unit::own(0),
        }
    }

    /// Its column in files, of a layer counted from 1 in the order in which activations act:
    /// `layer_3_dead`.
    pub fn column(self, layer: usize) -> String {
        format!("layer_{layer}_{}", self.name())
    }

    /// The layer and the measure that a column is of.
    pub fn of_column(column: &str) -> Option<(usize, Self)> {
        let (layer, name) = column.strip_prefix("layer_")?.split_once('_')?;
        let layer = layer.parse().ok().filter(|&layer| layer > 0)?;
        Some((layer, Self::ALL.into_iter().find(|measure| measure.name() == name)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_they_are_written() {
        for measure in LayerMeasure::ALL {
            for layer in [1, 8, 40] {
                let column = measure.column(layer);
                assert_eq!(LayerMeasure::of_column(&column), Some((layer, measure)), "{column}");
            }
        }
        for other in ["layer_0_dead", "layer_dead", "layer_1_error", "test_error", "layer_1", ""] {
            assert_eq!(LayerMeasure::of_column(other), None, "{other}");
        }
        assert_eq!(LayerMeasure::Dead.unit().shown(0.714), "71.4 %");
    }
}
