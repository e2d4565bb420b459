use super::Recipe;
use clap::ValueEnum;
use gelu_learner::activation::TargetFormula;

impl Recipe {
    /// Returns the built-in recipe that this one is a variant of: with the same name, data and network. A user's
    /// recipe may have any name.
    pub(crate) fn built_in(&self) -> Option<Self> {
        let built_in = Self::named(&self.name).ok()?;
        let same = self.data.asked() == built_in.data.asked() && self.network == built_in.network;
        same.then_some(built_in)
    }

    /// Returns the command that runs this recipe, if it is a built-in recipe changed only by flags; `None` if it
    /// needs a file.
    pub fn command(&self) -> Option<String> {
        let mut built_in = self.built_in()?;
        let mut words = vec!["gelu".to_owned(), "compare".to_owned(), self.name.clone()];
        let mut flag = |name: &str, same: bool, value: String| {
            if !same {
                words.push(format!("--{name}"));
                words.push(quoted(&value));
            }
        };
        let (ours, theirs) = (&self.comparison, &mut built_in.comparison);
        flag("activations", ours.activations == theirs.activations, joined(&ours.activations));
        let fixed = ours.until_decided.is_none();
        let as_built_in = ours.seeds == theirs.seeds && theirs.until_decided.is_none();
        flag("seeds", as_built_in || !fixed, ours.seeds.to_string());
        flag(
            "baseline",
            ours.baseline == theirs.baseline,
            ours.baseline.clone().unwrap_or_default(),
        );
        let no_worse = ours.no_worse.as_ref();
        let kept = no_worse.map_or_else(String::new, |n| format!("{}={}", n.metric, n.margin));
        flag("no-worse", ours.no_worse == theirs.no_worse, kept);
        let over = ours.over.as_ref();
        flag("over", ours.over == theirs.over, over.map_or_else(String::new, |o| o.axis.clone()));
        let scale = over.and_then(|over| over.scale.to_possible_value());
        let scale = scale.map_or_else(String::new, |value| value.get_name().to_owned());
        flag("scale", ours.over == theirs.over, scale);
        let level = ours.level.map_or_else(String::new, |level| level.to_string());
        flag("level", ours.level == theirs.level, level);
        let selection = ours.selection.to_possible_value();
        let selection = selection.map_or_else(String::new, |value| value.get_name().to_owned());
        flag("selection", ours.selection == theirs.selection, selection);
        flag(
            "learning-rates",
            ours.learning_rates == theirs.learning_rates,
            joined(&ours.learning_rates),
        );
        flag("dropout", ours.dropout == theirs.dropout, joined(&ours.dropout));
        // Formulas of the recipe, by name only.
        let named = |formula: &TargetFormula| match theirs.formulas.contains(formula) {
            true => formula.name().to_owned(),
            false => formula.to_string(),
        };
        let formulas: Vec<String> = ours.formulas.iter().map(named).collect();
        flag("formulas", ours.formulas == theirs.formulas, joined(&formulas));
        flag("widths", ours.widths == theirs.widths, joined(&ours.widths));
        flag("depths", ours.depths == theirs.depths, joined(&ours.depths));
        flag("batch-sizes", ours.batch_sizes == theirs.batch_sizes, joined(&ours.batch_sizes));
        flag("tables", ours.tables == theirs.tables, joined(&ours.tables));
        theirs.widths.clone_from(&ours.widths);
        theirs.depths.clone_from(&ours.depths);
        theirs.batch_sizes.clone_from(&ours.batch_sizes);
        theirs.tables.clone_from(&ours.tables);
        theirs.trivial.clone_from(&ours.trivial);
        theirs.activations.clone_from(&ours.activations);
        theirs.seeds = ours.seeds;
        theirs.baseline.clone_from(&ours.baseline);
        theirs.no_worse.clone_from(&ours.no_worse);
        theirs.over.clone_from(&ours.over);
        theirs.level = ours.level;
        theirs.selection = ours.selection;
        theirs.learning_rates.clone_from(&ours.learning_rates);
        theirs.dropout.clone_from(&ours.dropout);
        theirs.formulas.clone_from(&ours.formulas);
        let (ours, theirs) = (&self.training, &mut built_in.training);
        flag("epochs", ours.epochs == theirs.epochs, ours.epochs.to_string());
        flag("batch-size", ours.batch_size == theirs.batch_size, ours.batch_size.to_string());
        theirs.epochs = ours.epochs;
        theirs.batch_size = ours.batch_size;
        let batches = ours.batches.map_or_else(String::new, |batches| batches.to_string());
        flag("batches", ours.batches == theirs.batches, batches);
        theirs.batches = ours.batches;
        let is_probed = ours.probes && !theirs.probes;
        theirs.probes |= ours.probes;
        let (ours, theirs) = (&self.data, &mut built_in.data);
        for (name, ours, theirs) in [
            ("train-limit", ours.train_limit, &mut theirs.train_limit),
            ("test-limit", ours.test_limit, &mut theirs.test_limit),
        ] {
            flag(name, ours == *theirs, ours.map_or_else(String::new, |limit| limit.to_string()));
            *theirs = ours;
        }
        flag("validation", ours.validation == theirs.validation, ours.validation.to_string());
        theirs.validation = ours.validation;
        if let Some(until) = self.comparison.until_decided
            && built_in.comparison.until_decided != Some(until)
        {
            words
                .extend(["--until-decided".to_owned(), format!("--max-seeds {}", until.max_seeds)]);
        }
        built_in.comparison.until_decided = self.comparison.until_decided;
        words.extend(is_probed.then(|| "--probe".to_owned()));
        (built_in == *self).then(|| words.join(" "))
    }

    /// Describes what makes this recipe smaller than the built-in one that it is a variant of, or leaves out a part
    /// of the data set; empty if nothing does. [`cuts`](gelu_compare::report::cuts) makes a sentence of it.
    pub fn cut_down(&self) -> Vec<String> {
        let mut cuts = Vec::new();
        let built_in = self.built_in();
        if let Some(built_in) = &built_in {
            let mut fewer = |what: &str, ours: usize, theirs: usize| {
                if ours < theirs {
                    let words = match (what, ours) {
                        (_, 1) => what.to_owned(),
                        ("batch", _) => "batches".to_owned(),
                        _ => format!("{what}s"),
                    };
                    cuts.push(format!("{ours} {words} instead of {theirs}"));
                }
            };
            fewer("epoch", self.training.epochs, built_in.training.epochs);
            let batches = [self, built_in].map(|recipe| recipe.training.batches.unwrap_or(0));
            // Batches per epoch.
            fewer("batch", batches[0], batches[1]);
            let (ours, theirs) = (&self.comparison, &built_in.comparison);
            fewer("learning rate", ours.learning_rates.len(), theirs.learning_rates.len());
            fewer("dropout rate", ours.dropout.len(), theirs.dropout.len());
            fewer("formula", ours.formulas.len(), theirs.formulas.len());
        }
        let of_built_in = built_in.as_ref().map(|recipe| &recipe.data);
        for (part, ours, theirs) in [
            ("training", self.data.train_limit, of_built_in.and_then(|data| data.train_limit)),
            ("test", self.data.test_limit, of_built_in.and_then(|data| data.test_limit)),
        ] {
            if let Some(limit) = ours.filter(|_| ours != theirs) {
                cuts.push(format!("{limit} {part} examples alone"));
            }
        }
        cuts
    }
}

fn joined(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Returns a word quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_flags_are_part_of_the_command() {
        let mut recipe = Recipe::named("digits").unwrap();
        assert_eq!(recipe.command().unwrap(), "gelu compare digits");
        assert_eq!(recipe.cut_down(), Vec::<String>::new());
        recipe.comparison.activations = vec!["mine=max(x,0)".parse().unwrap()];
        recipe.comparison.learning_rates = vec![1e-3, 1e-4];
        recipe.training.epochs = 2;
        recipe.data.train_limit = Some(600);
        assert_eq!(
            recipe.command().unwrap(),
            "gelu compare digits --activations 'mine=max(x,0)' --learning-rates 0.001,0.0001 \
             --epochs 2 --train-limit 600"
        );
        let said = gelu_compare::report::cuts(&recipe.cut_down()).unwrap();
        assert_eq!(said, "Cut down: 2 epochs instead of 20; 600 training examples alone.");
        assert_eq!(gelu_compare::report::cuts(&[]), None);
        recipe.training.epochs = 1;
        assert_eq!(recipe.cut_down()[0], "1 epoch instead of 20");
    }

    #[test]
    fn probes_take_a_flag() {
        let mut recipe = Recipe::named("digits").unwrap();
        recipe.training.probes = true;
        assert_eq!(recipe.command().unwrap(), "gelu compare digits --probe");
    }

    #[test]
    fn a_recipe_with_data_or_network_of_its_own_is_no_built_in_one_cut_down() {
        let whole = Recipe::named("mnist-classifier").unwrap();
        let cut = |change: &dyn Fn(&mut Recipe)| {
            let mut recipe = whole.clone();
            recipe.training.epochs = 2;
            recipe.comparison.seeds = 1;
            change(&mut recipe);
            (recipe.cut_down(), gelu_compare::runs::Recipe::design(&recipe).whole_seeds)
        };
        let epochs = format!("2 epochs instead of {}", whole.training.epochs);
        assert_eq!(cut(&|_| {}), (vec![epochs], Some(whole.comparison.seeds)));
        assert_eq!(cut(&|recipe| recipe.data.set = "idx".to_owned()), (Vec::new(), None));
        let network = crate::recipe::NetworkRecipe::Classifier { depth: 1, width: 8 };
        assert_eq!(cut(&|recipe| recipe.network = network.clone()), (Vec::new(), None));
    }

    #[test]
    fn how_it_is_decided_is_part_of_the_command() {
        let mut recipe = Recipe::named("digits").unwrap();
        recipe.comparison.baseline = Some("relu".to_owned());
        recipe.comparison.until_decided =
            Some(gelu_compare::measure::UntilDecided { max_seeds: 16 });
        let command = recipe.command().unwrap();
        assert_eq!(command, "gelu compare digits --baseline relu --until-decided --max-seeds 16");
    }

    #[test]
    fn what_no_flag_changes_takes_a_file() {
        let mut recipe = Recipe::named("digits").unwrap();
        recipe.network = crate::recipe::NetworkRecipe::Classifier { depth: 2, width: 8 };
        assert_eq!(recipe.command(), None);
        recipe.name = "mine".to_owned();
        assert_eq!((recipe.command(), recipe.cut_down()), (None, Vec::new()));
    }
}
