use super::*;
use crate::measure::{Metric, Selection};

#[test]
fn every_built_in_recipe_is_valid_and_named_as_its_file() {
    for (name, text) in BUILT_IN {
        let recipe = Recipe::parse(text, name).unwrap();
        assert_eq!(&recipe.name, name);
    }
}

#[test]
fn unknown_name_leads_to_what_is_there() {
    let told = |name| Recipe::named(name).unwrap_err().to_string();
    let family = "unknown experiment `mnist`; did you mean `mnist-classifier`, `mnist-script`, ";
    assert!(told("mnist").starts_with(family), "{}", told("mnist"));
    let clear = "unknown experiment `digit`; did you mean `digits`? There are: digits, ";
    assert!(told("digit").starts_with(clear), "{}", told("digit"));
    assert!(told("mine.toml").ends_with("a file is read by `--recipe mine.toml`"));
}

#[test]
fn recipe_survives_being_written_and_read() {
    for name in Recipe::names() {
        let recipe = Recipe::named(name).unwrap();
        let text = toml::to_string(&recipe).unwrap();
        assert_eq!(Recipe::parse(&text, "copy").unwrap(), recipe);
    }
}

/// A network's loss rises again when it becomes more certain of its mistakes; its error does not.
#[test]
fn classifiers_with_validation_examples_choose_by_the_error_on_them() {
    let chooses = |name: &&str| {
        let Recipe { data, network, comparison, .. } = Recipe::named(name).unwrap();
        let own = ["tweets", "timit", "spoken-digits"].contains(&data.set.as_str());
        (network.classifies() && (own || data.validation > 0)).then_some(comparison.selection)
    };
    let names = Recipe::names();
    let chosen: Vec<Selection> = names.iter().filter_map(chooses).collect();
    assert!(chosen.len() >= 7, "{chosen:?}");
    assert!(chosen.iter().all(|selection| *selection == Selection::ValidError), "{chosen:?}");
}

#[test]
fn noise_that_a_verdict_goes_by_has_to_be_there() {
    let text = Recipe::text("mnist-robustness").unwrap();
    let recipe = Recipe::parse(text, "mine.toml").unwrap();
    let extra = gelu_compare::runs::Recipe::design(&recipe).extra;
    let amplitudes = extra["amplitudes"].as_array().unwrap();
    assert_eq!((amplitudes.len(), amplitudes[0].as_f64()), (15, Some(0.2)), "0 is no noise");
    let (before, _) = text.split_once("[noise]").unwrap();
    for noise in ["", "[noise]\namplitudes = [0.0]"] {
        let error = Recipe::parse(&format!("{before}{noise}"), "mine.toml").unwrap_err();
        assert!(error.to_string().contains("there is no noise"), "{error}");
    }
}

/// Choosing among several rates by a metric would bias a verdict by the same metric.
#[test]
fn what_decides_may_not_choose_among_learning_rates() {
    let text = Recipe::text("mnist-classifier").unwrap();
    let (test, train) = (r#"primary = "test-error""#, r#"primary = "train-loss""#);
    let chosen = r#"selection = "valid-error""#;
    assert!(text.contains(test) && text.contains(chosen));
    let text = text.replace(test, train).replace(chosen, r#"selection = "train-loss""#);
    let error = Recipe::parse(&text, "mine.toml").unwrap_err().to_string();
    assert!(error.contains("the best of 3 learning rates would be judged by"), "{error}");
    // With one rate there is no choice.
    let one = text.replace("[1e-3, 1e-4, 1e-5]", "[1e-3]");
    Recipe::parse(&one, "mine.toml").unwrap();
}

#[test]
fn unknown_key_is_refused_with_its_name() {
    let text = BUILT_IN[0].1.replace("batch_size", "batchsize");
    let error = Recipe::parse(&text, "mine.toml").unwrap_err().to_string();
    assert!(error.contains("mine.toml") && error.contains("batchsize"), "{error}");
}

#[test]
fn a_schedule_that_no_training_could_follow_is_refused_with_its_values() {
    let text = Recipe::text("cifar100-wrn-original").unwrap();
    let steps = "after = [0.3, 0.6, 0.8], factor = 0.2";
    assert!(text.contains(steps), "{text}");
    for (evil, expected) in [
        ("after = [0.6, 0.3], factor = 0.2", "schedule.after is [0.6, 0.3]"),
        ("after = [1.0], factor = 0.2", "schedule.after is 1"),
        ("after = [0.3], factor = 0.0", "schedule.factor is 0"),
        ("after = [0.3], factor = 5.0", "schedule.factor is 5"),
        ("after = [0.3]", "missing field `factor`"),
    ] {
        let error = Recipe::parse(&text.replace(steps, evil), "mine.toml").unwrap_err();
        assert!(error.to_string().contains(expected), "{evil}: {error}");
    }
}

#[test]
fn names_that_would_lead_elsewhere_and_texts_that_a_terminal_obeys_are_refused() {
    let text = BUILT_IN[0].1;
    for (honest, evil, expected) in [
        ("name = \"digits\"", "name = \"../../evil\"", "cannot be the name of a file"),
        ("name = \"digits\"", "name = \"\"", "cannot be the name of a file"),
        ("name = \"curves\"", "name = \"/tmp/evil\"", "cannot be the name of a file"),
        ("title = \"Built-in", "title = \"\\u001b[2JBuilt-in", "control character"),
        ("axis = \"log", "axis = \"\\u0007log", "control character"),
    ] {
        assert!(text.contains(honest), "{honest}");
        let error = Recipe::parse(&text.replace(honest, evil), "mine.toml").unwrap_err();
        assert!(error.to_string().contains(expected), "{evil}: {error}");
    }
}

#[test]
fn values_that_cannot_be_trained_with_are_refused() {
    let change = |edit: &dyn Fn(&mut Recipe)| {
        let mut recipe = Recipe::named("digits").unwrap();
        edit(&mut recipe);
        recipe.validate().unwrap_err().to_string()
    };
    assert!(change(&|r| r.comparison.seeds = 0).contains("seeds"));
    assert!(change(&|r| r.training.batch_size = 0).contains("batch size"));
    assert!(change(&|r| r.comparison.learning_rates = vec![-1.0]).contains("-1"));
    assert!(change(&|r| r.comparison.learning_rates = vec![f64::NAN]).contains("NaN"));
    assert!(change(&|r| r.comparison.dropout = vec![1.0]).contains("dropout rate 1"));
    assert!(change(&|r| r.data.train_limit = Some(0)).contains("train limit"));
}

#[test]
fn unknown_experiment_lists_what_exists() {
    let error = Recipe::named("mnist").unwrap_err().to_string();
    assert!(error.contains("mnist-classifier"), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_said_to_be() {
    let told = |path: &str| Recipe::from_file(Path::new(path)).unwrap_err().to_string();
    let said = told("no/such.toml");
    assert!(said.starts_with("no/such.toml: there is no such file; name a recipe"), "{said}");
    assert!(told("digits").contains("is named without --recipe"), "{}", told("digits"));
}

/// Each case changes a built-in recipe in one place, with a key that has no effect there.
#[test]
fn keys_without_effect_are_refused() {
    let refused = |name: &str, change: &dyn Fn(&mut Recipe)| {
        let mut recipe = Recipe::named(name).unwrap();
        change(&mut recipe);
        recipe.validate().unwrap_err().to_string()
    };
    let groups = |recipe: &mut Recipe| recipe.training.batch_of = BatchUnit::Groups;
    for name in ["digits", "char-gpt", "symbolic"] {
        assert!(refused(name, &groups).contains("batch_of is groups"), "{name}");
    }
    let mut tagger = Recipe::named("tweet-tagger").unwrap();
    groups(&mut tagger);
    tagger.validate().unwrap();
    let metric = |name: &str, metric: Metric| {
        refused(name, &|recipe| recipe.figure.as_mut().unwrap().metric = metric)
    };
    let said = metric("digits", Metric::Rmse);
    assert!(said.contains("figure.metric is rmse") && said.contains("loss or error"), "{said}");
    assert!(metric("symbolic", Metric::Error).contains("it can be loss or rmse"));
    let said = metric("mnist-autoencoder", Metric::Error);
    assert!(said.ends_with("it can be loss"), "{said}");
    let figure = |name: &str, change: &dyn Fn(&mut FigureSpec)| {
        refused(name, &|recipe| change(recipe.figure.as_mut().unwrap()))
    };
    assert!(figure("digits", &|f| f.splits.clear()).contains("figure.splits is empty"));
    assert!(figure("digits", &|f| f.panels = Panels::Formula).contains("no formulas"));
    assert!(figure("symbolic", &|f| f.panels = Panels::Dropout).contains("drop nothing"));
    let none = NoiseRecipe { amplitudes: Vec::new() };
    let said = refused("digits", &|recipe| recipe.noise = Some(none.clone()));
    assert!(said.contains("noise.amplitudes is 0"), "{said}");
}

#[test]
fn sizes_that_no_memory_holds_are_refused_where_they_are_read() {
    let refused = |change: &dyn Fn(&mut DataRecipe)| {
        let mut recipe = Recipe::named("cifar10-cnn").unwrap();
        change(&mut recipe.data);
        recipe.validate().unwrap_err().to_string()
    };
    for padding in [9_000_000_000_000_000_000, 100_000] {
        let said = refused(&|data| {
            let augmentation =
                Augmentation { mirrored: false, flips: false, crop_padding: padding };
            data.augmentation = Some(augmentation);
        });
        assert!(said.contains(&format!("crop_padding is {padding}")), "{said}");
    }
    for regulariser in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let said = refused(&|data| data.normalisation = Some(Normalisation::Zca { regulariser }));
        assert!(said.contains("data.normalisation.zca.regulariser is"), "{said}");
    }
}

#[test]
fn keys_that_do_not_fit_the_data_are_refused() {
    let augmented = |mirrored, flips| Some(Augmentation { mirrored, flips, crop_padding: 0 });
    let refused = |name: &str, change: &dyn Fn(&mut Recipe), expected: &str| {
        let mut recipe = Recipe::named(name).unwrap();
        change(&mut recipe);
        let said = recipe.validate().unwrap_err().to_string();
        assert!(said.contains(expected), "{name}: {said}");
    };
    refused(
        "cifar10-cnn",
        &|r| r.data.augmentation = augmented(true, true),
        "both flips and mirrored",
    );
    refused("digits", &|r| r.data.pixels = None, "data.pixels is missing");
    for name in ["tweet-tagger", "symbolic", "char-gpt"] {
        let for_pictures = "augmentation are for images";
        refused(name, &|r| r.data.pixels = Some(Pixels::ZeroToOne), for_pictures);
        refused(name, &|r| r.data.normalisation = Some(Normalisation::MeanPicture), for_pictures);
        refused(name, &|r| r.data.augmentation = augmented(false, true), for_pictures);
        refused(name, &|r| r.data.validation = 5, "has a validation part of its own");
    }
    let convolutional = Recipe::named("cifar10-cnn").unwrap().network;
    refused("timit-frames", &|r| r.network = convolutional.clone(), "holds no images");
    refused("char-gpt", &|r| r.training.batches = None, "training.batches is missing");
    refused(
        "char-gpt",
        &|r| r.noise = Some(NoiseRecipe { amplitudes: vec![0.5] }),
        "noise is added to numbers",
    );
    refused("symbolic", &|r| r.comparison.formulas.clear(), "comparison.formulas is empty");
}

#[test]
fn the_target_of_one_table_is_read_as_the_network_predicts_it() {
    let asked = |set: &str, network: NetworkRecipe| {
        let mut data = Recipe::named("tables").unwrap().data;
        data.set = set.to_owned();
        data.asked_for(&network).numbers
    };
    let (depth, width) = (1, 8);
    assert_eq!(asked("csv", NetworkRecipe::Regression { depth, width }), Some(true));
    assert_eq!(asked("csv", NetworkRecipe::Classifier { depth, width }), Some(false));
    assert_eq!(asked("csv", NetworkRecipe::Autoencoder { encoder: vec![8] }), None);
    assert_eq!(asked("tables", NetworkRecipe::Regression { depth, width }), None);
}
