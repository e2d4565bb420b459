//! A recipe as an experiment: its axes, measures and runs.

use super::{ComparisonRecipe, FigureSpec, Panels, Recipe, SecondSplit, TABLE, Trivial, sizes};
use crate::Result;
use crate::comparison::label;
use crate::data::DataSetInfo;
use crate::measure::{LossKind, Metric, Primary};
use crate::runs::RunSpec;
use gelu_compare::comparison::ALPHA;
use gelu_compare::measure::{Measure, Split};
use gelu_compare::report::TrivialRow;
use gelu_compare::runs::RunKey;
use gelu_compare::runs::{DataAndBackend, Design};
use gelu_compare::setting::{Axis, AxisWords, Label, Role, Setting, Value};
use gelu_core::Activation;
use gelu_learner::activation::{NamedActivation, TargetFormula};
use gelu_learner::networks::AMPLITUDES;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;

/// Names of the axes.
pub(crate) const ACTIVATION: &str = "activation";
const LEARNING_RATE: &str = "lr";
const DROPOUT: &str = "dropout";
const FORMULA: &str = "formula";

const ACTIVATIONS: AxisWords = AxisWords {
    column: Cow::Borrowed("activation"),
    title: Cow::Borrowed("activation"),
    plural: Cow::Borrowed("activations"),
    short_plural: Cow::Borrowed("activations"),
    label: Label::By(|value| label(value.as_text().unwrap_or_default())),
};

const LEARNING_RATES: AxisWords = AxisWords {
    column: Cow::Borrowed("learning_rate"),
    title: Cow::Borrowed("learning rate"),
    plural: Cow::Borrowed("learning rates"),
    short_plural: Cow::Borrowed("rates"),
    label: Label::By(|value| match value {
        Value::Number(rate) => format!("{rate:e}"),
        other => other.to_string(),
    }),
};

const DROPOUT_RATES: AxisWords = AxisWords {
    column: Cow::Borrowed("dropout"),
    title: Cow::Borrowed("dropout"),
    plural: Cow::Borrowed("dropout rates"),
    short_plural: Cow::Borrowed("rates"),
    label: Label::By(ToString::to_string),
};

const FORMULAS: AxisWords = AxisWords {
    column: Cow::Borrowed("formula"),
    title: Cow::Borrowed("formula"),
    plural: Cow::Borrowed("formulas"),
    short_plural: Cow::Borrowed("formulas"),
    label: Label::By(|value| {
        value.as_text().and_then(|text| text.split('=').next()).unwrap_or_default().to_owned()
    }),
};

/// The value at which a verdict holds.
#[derive(Clone, Debug)]
pub(crate) enum At {
    Dropout(f64),
    /// The learned formula, without dropout.
    Formula(String),
}

/// Returns the setting of an activation, a learning rate and a value of `At`.
pub(crate) fn setting(activation: &str, learning_rate: f64, at: At) -> Setting {
    Setting::new([
        (ACTIVATION, Value::from(activation)),
        (LEARNING_RATE, learning_rate.into()),
        match at {
            At::Dropout(rate) => (DROPOUT, rate.into()),
            At::Formula(formula) => (FORMULA, formula.as_str().into()),
        },
    ])
}

/// Returns the axes in which runs of this program differ.
fn axes(varied: &ComparisonRecipe) -> Vec<Axis> {
    let activations = varied.activations.iter().map(ToString::to_string);
    let rates = varied.learning_rates.iter().copied();
    let formulas = varied.formulas.iter().map(ToString::to_string);
    let mut axes = vec![
        Axis::new(ACTIVATION, Role::Compared, activations).with_words(ACTIVATIONS),
        Axis::new(LEARNING_RATE, Role::Tuned, rates).with_words(LEARNING_RATES),
        match varied.formulas.is_empty() {
            true => Axis::new(DROPOUT, Role::Each, varied.dropout.iter().copied())
                .with_words(DROPOUT_RATES),
            false => Axis::new(FORMULA, Role::Each, formulas).with_words(FORMULAS),
        },
    ];
    axes.extend(sizes::axes(varied));
    axes
}

/// Returns the measures of every epoch, in the order of files.
pub(crate) fn measures(loss: LossKind) -> Vec<Measure> {
    let on = |split| Metric::of(loss, split).iter().map(move |metric| metric.on(split, loss));
    Split::ALL.into_iter().flat_map(on).collect()
}

impl gelu_compare::runs::Recipe for Recipe {
    type Spec = RunSpec;

    fn validate(&self) -> Result<()> {
        Self::validate(self)
    }

    fn design(&self) -> Design {
        let varied = &self.comparison;
        let loss = self.loss();
        let named = varied.baseline.as_deref().and_then(|name| varied.named(name));
        let baseline = named.or(varied.activations.first()).map(ToString::to_string);
        let mut measures = measures(loss);
        measures.extend(varied.primary.under_noise(loss));
        Design {
            name: self.name.clone(),
            title: self.title.clone(),
            axes: axes(varied),
            seeds: varied.seeds,
            until_decided: varied.until_decided,
            tuning_seeds: varied.retrain.map(|retrain| retrain.tuning_seeds),
            baseline: Setting::new(baseline.map(|name| (ACTIVATION, name))),
            measures,
            open: false,
            primary: varied.primary.name().to_owned(),
            selection: varied.selection.to_string(),
            reported: varied.reported,
            negligible: varied.negligible,
            no_worse: varied.no_worse.clone(),
            over: varied.over.clone(),
            alpha: varied.level.unwrap_or(ALPHA),
            judgement: None,
            epochs: Some(self.training.epochs),
            built_differently: self.gated(),
            colours: self.colours(),
            cut_down: self.cut_down(),
            whole_seeds: match varied.until_decided {
                Some(_) => None,
                None => self.built_in().map(|built_in| built_in.comparison.seeds),
            },
            figure: self.figure.as_ref().map_or_else(|| default_figure(loss), FigureSpec::layout),
            examples: DataSetInfo::named(&self.data.set)
                .map_or_else(|_| "examples".to_owned(), |info| info.examples.to_owned()),
            extra: self.extra(),
        }
    }

    fn spec(&self, with: &DataAndBackend<'_>, key: &RunKey) -> Option<RunSpec> {
        let name = key.setting.text(ACTIVATION);
        let of_recipe = self.comparison.activations.iter();
        let activation = of_recipe
            .clone()
            .find(|activation| activation.to_string() == name)
            .cloned()
            .or_else(|| name.parse().ok())?;
        let formula = match key.setting.get(FORMULA) {
            Some(formula) => Some(self.comparison.formula(formula.as_text()?).ok()?),
            None => None,
        };
        RunSpec::of_key(self, activation, formula, key, with)
    }

    fn includes(&self, with: &DataAndBackend<'_>, spec: &RunSpec) -> bool {
        use gelu_compare::runs::Spec;
        let (activation, formula) = (spec.activation.clone(), spec.formula.clone());
        RunSpec::of_key(self, activation, formula, &spec.key(), with).as_ref() == Some(spec)
    }

    fn with_grid_of(&self, other: &Self) -> Self {
        let mut same = self.with_seeds_of(other);
        let (grid, there) = (&mut same.comparison, &other.comparison);
        grid.activations.clone_from(&there.activations);
        grid.learning_rates.clone_from(&there.learning_rates);
        grid.dropout.clone_from(&there.dropout);
        grid.formulas.clone_from(&there.formulas);
        grid.baseline.clone_from(&there.baseline);
        // If only one of the two has an axis, they stay different.
        let widened = |ours: &mut Vec<usize>, theirs: &Vec<usize>| {
            if !(ours.is_empty() || theirs.is_empty()) {
                ours.clone_from(theirs);
            }
        };
        widened(&mut grid.widths, &there.widths);
        widened(&mut grid.depths, &there.depths);
        widened(&mut grid.batch_sizes, &there.batch_sizes);
        if !(grid.tables.is_empty() || there.tables.is_empty()) {
            grid.tables.clone_from(&there.tables);
        }
        grid.trivial.clone_from(&there.trivial);
        same
    }

    fn with_seeds_of(&self, other: &Self) -> Self {
        let mut same = self.clone();
        same.comparison.seeds = other.comparison.seeds;
        same.comparison.until_decided = other.comparison.until_decided;
        same
    }

    fn command(&self) -> Option<String> {
        Self::command(self)
    }
}

/// The activations with the first colours, which are easiest to distinguish, in the order of the colours.
const FIRST: [&str; 22] = [
    "gelu",
    "relu",
    "elu",
    "silu",
    "gelu-tanh",
    "gelu-sigmoid",
    "mish",
    "squared-relu",
    "cauchy",
    "learnable-gelu",
    "soi",
    // Shades of these colours.
    "swiglu",
    "geglu",
    "singlu",
    "polynorm",
    "xielu",
    "tanh",
    "gelu2",
    "leaky-relu",
    "learnable-swish",
    "smooth-relu2",
    "leaky-relu2",
];

impl Recipe {
    /// Returns the indices of the colours that activations have in every comparison; the user's formulas get the
    /// remaining colours.
    fn colours(&self) -> Vec<(Setting, usize)> {
        let built_in = Activation::built_in();
        let built_in = built_in.iter().map(|activation| activation.name().into_owned());
        let others = built_in.chain(NamedActivation::others().map(str::to_owned));
        let others = others.filter(|name| !FIRST.contains(&name.as_str()));
        let all: Vec<String> = FIRST.iter().map(ToString::to_string).chain(others).collect();
        let place = |activation: &NamedActivation| {
            let text = activation.to_string();
            let place = all.iter().position(|name| *name == text)?;
            Some((Setting::new([(ACTIVATION, text)]), place))
        };
        self.comparison.activations.iter().filter_map(place).collect()
    }

    /// Returns the arms with gated units, whose layers have two products instead of one.
    fn gated(&self) -> Vec<Setting> {
        let gates = self.comparison.activations.iter().filter(|activation| activation.is_gate());
        gates.map(|gate| Setting::new([(ACTIVATION, gate.to_string())])).collect()
    }
}

impl Recipe {
    /// Returns further fields of its documents: the loss, rows of trivial predictors, and the noise amplitudes that
    /// the deciding metric is a mean over.
    fn extra(&self) -> Map<String, Json> {
        let mut extra = Map::new();
        extra.insert("loss".to_owned(), serde_json::json!(self.loss()));
        let row = |trivial: &Trivial| {
            let at = trivial.table.iter().map(|table| (TABLE, table.as_str()));
            TrivialRow { label: trivial.label.clone(), at: Setting::new(at), value: trivial.value }
        };
        let rows: Vec<TrivialRow> = self.comparison.trivial.iter().map(row).collect();
        if !rows.is_empty() {
            extra.insert(TrivialRow::KEY.to_owned(), serde_json::json!(rows));
        }
        if let (Primary::NoisyTestError, Some(noise)) = (self.comparison.primary, &self.noise) {
            extra.insert(AMPLITUDES.to_owned(), serde_json::json!(noise.disturbing()));
        }
        extra
    }
}

fn default_figure(loss: LossKind) -> gelu_compare::runs::FigureSpec {
    gelu_compare::runs::FigureSpec {
        quantity: Metric::Loss.to_string(),
        axis: match loss {
            LossKind::LogLoss => "log loss".to_owned(),
            LossKind::SquaredError => "mean squared error".to_owned(),
            LossKind::ScaledSquaredError | LossKind::UnexplainedVariance => {
                "mean squared error, in variances".to_owned()
            }
        },
        ..gelu_compare::runs::FigureSpec::default()
    }
}

impl FigureSpec {
    /// Returns the figure's layout for reports.
    pub(crate) fn layout(&self) -> gelu_compare::runs::FigureSpec {
        gelu_compare::runs::FigureSpec {
            name: self.name.clone(),
            quantity: self.metric.to_string(),
            axis: self.axis.clone(),
            splits: self.splits.clone(),
            dashed: self.second == SecondSplit::Dashed,
            panels: match self.panels {
                Panels::Single => gelu_compare::runs::Panels::Single,
                Panels::Dropout | Panels::Formula => gelu_compare::runs::Panels::Each,
                Panels::LearningRate => gelu_compare::runs::Panels::Tuned,
            },
            logarithmic: self.logarithmic,
        }
    }
}

impl RunSpec {
    fn of_key(
        recipe: &Recipe,
        activation: NamedActivation,
        formula: Option<TargetFormula>,
        key: &RunKey,
        with: &DataAndBackend<'_>,
    ) -> Option<Self> {
        let rate = |axis| key.setting.number(axis);
        let dropout = if formula.is_some() { 0.0 } else { rate(DROPOUT) };
        let (learning_rate, DataAndBackend { backend, data_fingerprint }) =
            (rate(LEARNING_RATE), *with);
        Self::new(recipe, activation, learning_rate, dropout, key.seed, backend, data_fingerprint)
            .of_formula(formula)
            .of_stage(key.stage)
            .of_sizes(recipe, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gelu_compare::measure::UntilDecided;
    use gelu_compare::runs::Recipe as _;

    #[test]
    fn an_activation_has_one_colour_in_every_comparison() {
        fn colours(names: &[&str]) -> Vec<(Setting, usize)> {
            let mut recipe = Recipe::named("digits").unwrap();
            recipe.comparison.activations = names.iter().map(|n| n.parse().unwrap()).collect();
            recipe.design().colours
        }
        let of = |names: &[&str], name: &str| {
            let arm = Setting::new([(ACTIVATION, name)]);
            colours(names).into_iter().find(|(setting, _)| *setting == arm).map(|(_, place)| place)
        };
        assert_eq!(of(&["gelu", "relu", "elu"], "relu"), of(&["relu", "tanh", "gelu"], "relu"));
        assert_eq!(of(&["mine=x*x", "gelu"], "gelu"), Some(0));
        assert_eq!(of(&["mine=x*x", "gelu"], "mine=x*x"), None, "one of those that are left");
        let activations = Activation::built_in();
        let built_in = activations.iter().map(|activation| activation.name().into_owned());
        let all: Vec<String> =
            built_in.chain(NamedActivation::others().map(str::to_owned)).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut places: Vec<usize> = colours(&all).into_iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        assert_eq!(places, (0..all.len()).collect::<Vec<_>>());
        assert!(all.len() <= 55, "there are 55 colours");
    }

    #[test]
    fn every_part_of_the_grid_may_be_widened() {
        let mut there = Recipe::named("mnist-classifier").unwrap();
        let grid = &mut there.comparison;
        grid.formulas = vec!["wave=sin(x)".parse().unwrap()];
        (grid.widths, grid.depths, grid.batch_sizes) = (vec![8], vec![2], vec![50]);
        grid.tables = vec!["iris".to_owned()];
        let widen: [fn(&mut Recipe); 12] = [
            |recipe| recipe.comparison.formulas.push("line=x".parse().unwrap()),
            |recipe| recipe.comparison.widths.push(16),
            |recipe| recipe.comparison.depths.push(3),
            |recipe| recipe.comparison.batch_sizes.push(100),
            |recipe| recipe.comparison.tables.push("wine".to_owned()),
            |recipe| recipe.comparison.baseline = Some("relu".to_owned()),
            |recipe| recipe.comparison.until_decided = Some(UntilDecided { max_seeds: 20 }),
            |recipe| {
                let label = "always no".to_owned();
                recipe.comparison.trivial.push(Trivial { label, table: None, value: 0.5 });
            },
            |recipe| recipe.comparison.dropout.push(0.125),
            |recipe| recipe.comparison.learning_rates.push(0.125),
            |recipe| recipe.comparison.activations.push("silu".parse().unwrap()),
            |recipe| recipe.comparison.seeds += 1,
        ];
        for widen in widen {
            let mut asked = there.clone();
            widen(&mut asked);
            assert_ne!(asked, there);
            assert_eq!(asked.with_grid_of(&there), there);
        }
    }

    #[test]
    fn gated_arms_are_built_differently_from_the_others() {
        let mut recipe = Recipe::named("char-gpt").unwrap();
        recipe.comparison.activations =
            ["gelu", "swiglu", "relu", "geglu"].map(|name| name.parse().unwrap()).to_vec();
        let arms = |names: [&str; 2]| names.map(|name| Setting::new([(ACTIVATION, name)])).to_vec();
        assert_eq!(recipe.design().built_differently, arms(["swiglu", "geglu"]));
        assert_eq!(Recipe::named("mnist-classifier").unwrap().design().built_differently, []);
    }
}
