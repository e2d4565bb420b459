use gelu_compare::measure::Unit;

/// A measure of each layer's activation, on the same examples after every epoch.
///
/// For every unit and example, it uses the inputs of the activation (the pre-activations) and its outputs. If a layer
/// has positions, as with images, each position of an example counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerMeasure {
    /// The share of outputs that are exactly 0.
    Zeros,
    /// The share of units whose output is 0 for every example; no gradient passes through them.
    Dead,
    /// The mean of the pre-activations.
    Mean,
    /// The standard deviation of the pre-activations.
    Deviation,
    /// The skewness of the pre-activations, 0 for a normal distribution.
    Skewness,
    /// The excess kurtosis of the pre-activations, 0 for a normal distribution.
    Kurtosis,
    /// The Euclidean norm of the mean loss's gradient with respect to the pre-activations.
    Gradient,
    /// The number of directions in which the outputs vary: `(Σλ)²/Σλ²` of the eigenvalues λ of the units' covariance
    /// matrix, from 1 to the number of units (the participation ratio; Gao et al., bioRxiv 214262).
    Rank,
}

impl LayerMeasure {
    /// All measures, in the order of files and tables.
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

    /// Returns the name in files.
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

    /// Returns the name in headings.
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

    /// Returns the unit of the values.
    pub fn unit(self) -> Unit {
        match self {
            Self::Zeros | Self::Dead => Unit { decimals: 1, decimals_alone: 1, ..Unit::points() },
            _ => Unit::own(0),
        }
    }

    /// Returns the column in files: `layer_3_dead`. Layers count from 1 in the order in which the activations act.
    pub fn column(self, layer: usize) -> String {
        format!("layer_{layer}_{}", self.name())
    }

    /// Returns the layer and the measure of a column.
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
