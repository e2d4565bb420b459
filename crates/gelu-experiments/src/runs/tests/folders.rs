//! Tests of a comparison's folder.

use super::*;
use crate::recipe::ComparisonRecipe;
use gelu_compare::runs::{DataSource, HasBegun, Recipe as _, RunKey, Stage};
use std::fs;
use std::path::Path;

fn plan() -> Plan {
    let recipe = Recipe::named("mnist-classifier").unwrap();
    let data = DataSource::new("mnist", Some("somewhere".into()), false, [b"content"]);
    Plan::new(recipe, data, "flex", "flex")
}

/// Creates the comparison `there` in a folder, then asks for `asked` in the same folder, and returns the result.
fn widened(there: &Plan, asked: &Plan, has_begun: bool) -> crate::Result<Plan> {
    let out = tempfile::tempdir().unwrap();
    let path = out.path();
    Comparison::create(path, there, |_, _| false).unwrap();
    let begun: HasBegun<Recipe> = if has_begun { |_, _| true } else { |_, _| false };
    Ok(Comparison::create(path, asked, begun)?.1)
}

fn refused(path: &Path, change: impl Fn(&mut Plan)) -> String {
    let mut asked = plan();
    change(&mut asked);
    Comparison::create(path, &asked, |_, _| false).unwrap_err().to_string()
}

#[test]
fn the_same_comparison_is_joined_and_another_refused() {
    let out = tempfile::tempdir().unwrap();
    Comparison::create(out.path(), &plan(), |_, _| false).unwrap();
    let (folder, joined) = Comparison::create(out.path(), &plan(), |_, _| false).unwrap();
    assert_eq!((&joined, joined.clone()), (&plan(), folder.plan().unwrap()));
    let before = fs::read(folder.file()).unwrap();
    let epochs = refused(out.path(), |c| c.recipe.training.epochs = 7);
    assert!(epochs.contains("training.epochs is 50 there and 7 here"), "{epochs}");
    assert!(epochs.contains("--out"), "{epochs}");
    let backend = refused(out.path(), |c| c.backend = "vulkan".to_owned());
    assert!(backend.contains("backend is \"flex\" there"), "{backend}");
    let data = refused(out.path(), |c| c.data.fingerprint = "other".to_owned());
    assert!(data.contains("data.fingerprint"), "{data}");
    let fewer = refused(out.path(), |c| c.recipe.comparison.learning_rates = vec![1e-3]);
    assert!(fewer.contains("lr has 0.0001 there"), "{fewer}");
    assert_eq!(fs::read(folder.file()).unwrap(), before, "what is refused changes nothing");
}

#[test]
fn a_comparison_can_be_widened() {
    let out = tempfile::tempdir().unwrap();
    Comparison::create(out.path(), &plan(), |_, _| false).unwrap();
    let mut wider = plan();
    wider.recipe.comparison.seeds += 3;
    wider.recipe.comparison.activations.push(gelu_core::Activation::Silu.into());
    wider.device = "flex:1".to_owned();
    let (folder, widened) = Comparison::create(out.path(), &wider, |_, _| false).unwrap();
    assert_eq!(widened.recipe, wider.recipe);
    assert_eq!(folder.plan().unwrap(), widened);
}

#[test]
fn fewer_seeds_are_a_cut_until_a_look_is_taken_after_as_many() {
    let mut small = plan();
    small.recipe = crate::recipe::Recipe::named("digits").unwrap();
    small.recipe.comparison.seeds = 1;
    let cuts = |of: &Plan| -> Vec<String> {
        let all = of.cut_down(&of.recipe.design()).into_iter();
        all.filter(|cut| cut.contains("seed")).collect()
    };
    assert_eq!(cuts(&small), ["1 seed instead of 8"]);
    small.add_seeds(5, "");
    assert_eq!(cuts(&small), ["5 seeds instead of 8"]);
    small.add_seeds(8, "");
    assert!(cuts(&small).is_empty());
}

#[test]
fn seeds_are_a_new_plan_before_the_first_look_and_a_look_of_their_own_after_it() {
    let of = |change: &dyn Fn(&mut ComparisonRecipe)| {
        let mut asked = plan();
        asked.recipe.comparison.seeds = 8;
        change(&mut asked.recipe.comparison);
        asked
    };
    let widen = |there: &Plan, change: &dyn Fn(&mut ComparisonRecipe), has_begun| {
        widened(there, &of(change), has_begun)
    };
    let until = |max_seeds| Some(gelu_compare::measure::UntilDecided { max_seeds });
    let seeds = |plan: &Plan| -> (u64, Vec<u64>) {
        let added = plan.added_seeds.iter().map(|added| added.seeds).collect();
        (plan.recipe.design().schedule().seeds, added)
    };
    let fixed = of(&|_| ());
    let replanned = widen(&fixed, &|r| r.seeds = 20, false).unwrap();
    assert_eq!(seeds(&replanned), (20, vec![]));
    let added = widen(&fixed, &|r| r.seeds = 20, true).unwrap();
    assert_eq!(seeds(&added), (8, vec![20]));
    assert!(added.added_seeds[0].at.ends_with('Z'));
    // Resuming, with the recipe's seeds or the new ones, changes nothing.
    assert_eq!(widen(&added, &|_| (), true).unwrap(), added);
    assert_eq!(widen(&added, &|r| r.seeds = 20, true).unwrap(), added);
    let refused = widen(&added, &|r| r.seeds = 12, true).unwrap_err().to_string();
    assert!(refused.contains("has 20 there, and 12 are asked for"), "{refused}");
    let again = widen(&added, &|r| r.seeds = 40, true).unwrap();
    assert_eq!(seeds(&again), (8, vec![20, 40]));
    // A comparison that adds seeds until it is decided must be planned before there are results.
    let sequential = widen(&fixed, &|r| r.until_decided = until(20), false).unwrap();
    assert_eq!(seeds(&sequential), (20, vec![]));
    let late = widen(&fixed, &|r| r.until_decided = until(20), true).unwrap_err().to_string();
    assert!(late.contains("its 8 seeds were planned to be judged once"), "{late}");
    assert_eq!(widen(&sequential, &|_| (), true).unwrap(), sequential);
    for change in [&|r: &mut ComparisonRecipe| r.until_decided = until(40), &|r| r.seeds = 40]
        as [&dyn Fn(&mut ComparisonRecipe); 2]
    {
        let longer = widen(&sequential, change, true).unwrap();
        assert_eq!(seeds(&longer), (20, vec![40]));
    }
    let replanned = widen(&sequential, &|r| r.until_decided = until(30), false).unwrap();
    assert_eq!(seeds(&replanned), (30, vec![]));
}

#[test]
fn runs_of_the_recipe_belong_to_it_whatever_their_seed() {
    let plan = plan();
    let key = RunKey {
        setting: crate::recipe::setting("silu", 0.5, crate::recipe::At::Dropout(0.0)),
        seed: 77,
        stage: Stage::Only,
    };
    let spec = plan.spec(&key).unwrap();
    assert!(plan.includes(&spec));
    let mut other = spec;
    other.training.batch_size += 1;
    assert!(!plan.includes(&other));
}

#[test]
fn folders_that_hold_no_comparison_or_another_version_say_so() {
    let out = tempfile::tempdir().unwrap();
    let problem = || Comparison::open(out.path()).unwrap_err().to_string();
    assert!(problem().contains("no comparison"), "{}", problem());
    let (folder, _) = Comparison::create(out.path(), &plan(), |_, _| false).unwrap();
    let text = fs::read_to_string(folder.file()).unwrap();
    let with = |version: &str| {
        fs::write(folder.file(), text.replace("version = 3\n", version)).unwrap();
        problem()
    };
    assert!(with("version = 4\n").contains("newer version"), "{}", problem());
    assert!(with("").contains("older version"), "{}", problem());
    fs::write(folder.file(), &text[..text.len() / 2]).unwrap();
    assert!(problem().contains("comparison.toml"), "{}", problem());
}
