//! Tests that `gelu` shows comparisons of other programs, and that they show its comparisons.

use crate::support::Sandbox;
use gelu_compare::comparison::AnyReader;
use gelu_compare::comparison::plan;
use gelu_compare::measure::EpochMetrics;
use gelu_compare::program::ProgramRecipe;
use gelu_compare::report::Document;
use gelu_compare::runs::{ClaimedRun, Comparison, DataSource, Plan, Recipe as _, RunStatus, Watch};
use gelu_compare::setting::{Axis, Role};
use std::path::Path;
use std::time::Duration;

/// Creates a comparison of two widths as a user's own loop would, with all runs finished.
fn of_somebodys_own_loop(out: &Path) {
    let mut recipe = ProgramRecipe::new("rings", "test_error");
    recipe.axis(Axis::new("width", Role::Compared, [16, 32]));
    let asked = Plan::new(recipe, DataSource::default(), "", "");
    let (folder, plan) = Comparison::create(out, &asked, |_, _| false).unwrap();
    for key in plan::grid(&plan.recipe.design()) {
        let spec = plan.spec(&key).unwrap();
        let run = folder.run(&spec).unwrap();
        let claimed =
            ClaimedRun::claim(&run, &spec, &mut Watch::default(), Duration::from_secs(60));
        let claimed = claimed.unwrap().unwrap();
        let width = key.setting.number("width");
        let mut epoch = EpochMetrics::new(1);
        epoch.set("test_error", 0.1 + (1.0 + 0.01 * (key.seed % 3) as f64) / width);
        claimed.keep_metrics(&[epoch]).unwrap();
        claimed.set_status(RunStatus::Finished, 1.0).unwrap();
    }
}

#[test]
fn gelu_shows_the_comparison_of_somebodys_own_loop_and_leaves_it_alone() {
    let sandbox = Sandbox::new();
    of_somebodys_own_loop(&sandbox.path("all/rings"));
    let listed = sandbox.run(&["runs", "all/rings"]).success();
    assert_eq!(listed.matches("  finished ").count(), 16, "{listed}");
    let above = sandbox.run(&["runs", "all"]).success();
    assert!(above.contains("all/rings: rings, 16 runs: 16 finished"), "{above}");
    sandbox.run(&["watch", "all/rings", "--plain"]).success();
    let said = sandbox.run(&["report", "all/rings", "--out", "shown"]).success();
    assert!(said.contains("32 beats 16 by 0.031"), "{said}");
    for arguments in [&["work", "all/rings"][..], &["compare", "digits", "--out", "all/rings"]] {
        let said = sandbox.run(arguments).refused(1, "holds a comparison of rings, and only rings");
        assert!(!said.contains("delete"), "{said}");
    }
}

#[test]
fn other_programs_show_what_gelu_has_made_as_gelu_shows_it() {
    let sandbox = Sandbox::new();
    let compare = ["compare", "digits", "--activations", "relu,swish", "--learning-rates"];
    let more =
        ["1e-3,1e-4", "--epochs", "2", "--seeds", "2", "--train-limit", "600", "--out", "mine"];
    sandbox.run(&[&compare[..], &more].concat()).success();
    let mut own =
        AnyReader::<gelu_experiments::recipe::Recipe>::open(&sandbox.path("mine")).unwrap();
    let mut others = AnyReader::<ProgramRecipe>::open(&sandbox.path("mine")).unwrap();
    let (own, others) = (own.snapshot(), others.snapshot());
    assert_eq!(others.runs.len(), 8);
    assert_eq!(others.warnings, Vec::<String>::new());
    assert_eq!(Document::of(&others).to_json(), Document::of(&own).to_json());
    assert_eq!(others, own);
    assert!(Comparison::<ProgramRecipe>::open(&sandbox.path("mine")).is_err());
}
