use super::{ProgramRecipe, Template};
use crate::Result;
use crate::comparison::{SnapshotReader, plan};
use crate::output::print;
use crate::runs::{Plan, Recipe, RunKey};
use std::path::Path;

/// Prints what a comparison would run, without running anything.
pub(super) fn dry_run(plan: &Plan<ProgramRecipe>, out: &Path) -> Result<()> {
    let recipe = &plan.recipe;
    let (design, grid) = (recipe.design(), plan::grid(&recipe.design()));
    let mut said = format!("{}: {}\n", several(grid.len(), "run"), factors(recipe));
    if let Some(until) = recipe.until_decided {
        said.push_str(&format!("More seeds until it is decided, up to {}\n", until.max_seeds));
    }
    said.push_str(&format!("{}\n", design.prospect()));
    if let Some((command, first)) =
        grid.first().and_then(|first| Some((command(recipe, first)?, first)))
    {
        let words = Template::parse(&command)?.words(&first.setting, first.seed);
        said.push_str(&format!("The first: {}\n", shell_words::join(words)));
    }
    let shown = out.display();
    said.push_str(&match SnapshotReader::foreseeing(out, plan)? {
        None => format!("They would be kept in {shown}\n"),
        Some(mut reader) => {
            let snapshot = reader.snapshot();
            let complete = snapshot.runs.iter().filter(|run| run.status.is_complete()).count();
            let left = plan::all(plan, &design, &snapshot).len() - complete;
            format!("{complete} complete already in {shown}, {left} left\n")
        }
    });
    print(&said)
}

/// Returns the command of a run, or `None` if the program contains the loop itself.
fn command(recipe: &ProgramRecipe, run: &RunKey) -> Option<String> {
    recipe.command.clone().or_else(|| {
        run.setting.get(ProgramRecipe::COMMAND).map(|command| command.content().into_owned())
    })
}

/// Returns the size of the plan: `2 values of activation × 3 of lr × 8 seeds`.
fn factors(recipe: &ProgramRecipe) -> String {
    let counted =
        recipe.axes.iter().enumerate().map(|(index, axis)| match (index, axis.values.len()) {
            (0, count) => format!("{} of {}", several(count, "value"), axis.name),
            (_, count) => format!("{count} of {}", axis.name),
        });
    let seeds = several(recipe.design().first_seeds() as usize, "seed");
    counted.chain([seeds]).collect::<Vec<_>>().join(" × ")
}

fn several(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    }
}
