use crate::data::DataSetInfo;
use crate::runs::ComparisonSnapshot;
use gelu_compare::comparison::Wording;

/// How values of a comparison's primary measure are said, on test examples that have a name.
pub fn wording(snapshot: &ComparisonSnapshot) -> Wording {
    let name = DataSetInfo::named(&snapshot.data).map_or("examples", |info| info.examples);
    let measure = snapshot.criterion.primary.measure(snapshot.loss);
    Wording::of(&measure).on_examples(snapshot.test_examples, name)
}
