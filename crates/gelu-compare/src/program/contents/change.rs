//! Effects of changed files on the runs of a comparison whose commands name them.

use super::{Contents, Files};
use crate::comparison::plan;
use crate::names::printable;
use crate::output::complain;
use crate::program::{ProgramRecipe, ProgramSpec};
use crate::runs::{Comparison, Plan, Recipe, RunFolder, RunStatus, Spec};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Adapts the contents in `recipe` to the comparison in the folder. If an earlier version made the comparison, removes
/// the contents, because that version did not record them. Leaves out files that did not exist when the comparison
/// was made, because its runs write them.
pub(in crate::program) fn settle(recipe: &mut ProgramRecipe, out: &Path) {
    let there = Comparison::<ProgramRecipe>::open(out).and_then(|f| Ok((f.plan()?, f)));
    let Ok((there, folder)) = there else { return };
    let (Some(contents), true) = (&mut recipe.contents, there.recipe.has_commands()) else {
        return;
    };
    match &there.recipe.contents {
        None => recipe.contents = None,
        Some(known) if has_begun(&folder) => contents.leave_out_written(known, &there.recipe),
        Some(_) => {}
    }
}

impl Contents {
    /// Leaves out files that the commands of `there` name and that did not exist when `known` was recorded.
    fn leave_out_written(&mut self, known: &Self, there: &ProgramRecipe) {
        for word in there.names().into_iter().map(super::Name::into_word) {
            if !known.words.contains_key(&word) {
                self.words.remove(&word);
            }
        }
    }
}

/// Returns the runs in a folder with their statuses.
fn runs(folder: &Comparison<ProgramRecipe>) -> impl Iterator<Item = (RunFolder, RunStatus)> {
    let entries = fs::read_dir(folder.runs()).into_iter().flatten().flatten();
    let folders = entries.map(|entry| RunFolder::at(&entry.path()));
    folders.filter_map(|run| run.status().ok().map(|file| (run, file.status)))
}

/// Returns whether a run has begun that did not fail. It may have written files.
fn has_begun(folder: &Comparison<ProgramRecipe>) -> bool {
    runs(folder).any(|(_, status)| !matches!(status, RunStatus::Waiting | RunStatus::Failed { .. }))
}

/// Prints which runs no longer count because a file changed, and how many new runs begin. For a comparison without
/// recorded contents, prints that changes are not noticed.
pub(in crate::program) fn announce_change(
    folder: &Comparison<ProgramRecipe>,
    before: &Plan<ProgramRecipe>,
    now: &Plan<ProgramRecipe>,
) {
    if now.recipe.has_commands() && now.recipe.contents.is_none() {
        complain(&format!(
            "{}: an earlier version made {}, and did not record the contents of programs: its runs go on, and this folder \
             does not notice when a program changes; another one (--out) does\n",
            ProgramSpec::TOOL,
            folder.path().display()
        ));
        return;
    }
    if before.recipe.contents != now.recipe.contents
        && let Some(said) = change(folder, before, now)
    {
        complain(&format!("{}: {said}\n", ProgramSpec::TOOL));
    }
}

/// Returns a message:
/// `train.py changed since these 8 runs. They stay in the folder under its earlier content; 8 new runs begin.`
fn change(
    folder: &Comparison<ProgramRecipe>,
    before: &Plan<ProgramRecipe>,
    now: &Plan<ProgramRecipe>,
) -> Option<String> {
    let (mut left, mut there) = (0, BTreeSet::new());
    for (run, status) in runs(folder).filter(|(_, status)| *status != RunStatus::Waiting) {
        let Ok(spec) = run.spec::<ProgramSpec>() else { continue };
        match (before.includes(&spec), now.includes(&spec)) {
            (true, false) => left += 1,
            (false, true) if status.is_complete() => drop(there.insert(spec.folder_name())),
            _ => {}
        }
    }
    if left == 0 {
        return None;
    }
    let changes = Changes::between(&before.recipe, &now.recipe);
    let grid = plan::grid(&now.recipe.design());
    let changed = grid.iter().filter_map(|key| now.spec(key)).filter(|spec| !before.includes(spec));
    let (known, new): (Vec<_>, Vec<_>) =
        changed.partition(|spec| there.contains(&spec.folder_name()));
    let what = changes.in_words(left);
    let (they, its) = (
        if left == 1 { "It stays" } else { "They stay" },
        if changes.files() == 1 { "its" } else { "their" },
    );
    let runs = |count: usize| match count {
        1 => "1 new run begins".to_owned(),
        count => format!("{count} new runs begin"),
    };
    let rest = match (known.len(), new.len()) {
        (0, new) => runs(new),
        (known, 0) => format!("{known} runs of {its} present content are there already"),
        (known, new) => {
            format!("{known} runs of {its} present content are there, and {}", runs(new))
        }
    };
    Some(format!("{what} {they} in the folder under {its} earlier content; {rest}."))
}

/// The files that differ between two recorded contents.
#[derive(Default)]
struct Changes {
    changed: BTreeSet<String>,
    added: BTreeSet<String>,
    removed: BTreeSet<String>,
}

impl Changes {
    fn between(before: &ProgramRecipe, now: &ProgramRecipe) -> Self {
        let all = |recipe: &ProgramRecipe| -> Files {
            let contents = recipe.contents.clone().unwrap_or_default();
            let words = contents.words.into_values().flatten();
            contents.depends.into_iter().chain(words).collect()
        };
        let (before, now) = (all(before), all(now));
        let mut changes = Self::default();
        for (path, content) in &now {
            match before.get(path) {
                None => drop(changes.added.insert(path.clone())),
                Some(old) if old != content => drop(changes.changed.insert(path.clone())),
                Some(_) => {}
            }
        }
        changes.removed = before.into_keys().filter(|path| !now.contains_key(path)).collect();
        changes
    }

    /// Returns the number of files in the first sentence.
    fn files(&self) -> usize {
        let all = [&self.changed, &self.added, &self.removed];
        all.into_iter().map(BTreeSet::len).find(|count| *count > 0).unwrap_or(0)
    }

    /// Returns a sentence about the number of runs that no longer count.
    fn in_words(&self, left: usize) -> String {
        let these = match left {
            1 => "this run".to_owned(),
            _ => format!("these {left} runs"),
        };
        if !self.changed.is_empty() {
            format!("{} changed since {these}.", listed(&self.changed))
        } else if !self.added.is_empty() {
            format!("{} did not depend on {} yet.", capital(&these), listed(&self.added))
        } else {
            format!("{} depended on {}.", capital(&these), listed(&self.removed))
        }
    }
}

/// Returns a list of names: `train.py, model.py and 3 more`.
fn listed(names: &BTreeSet<String>) -> String {
    const MOST: usize = 3;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| printable(name)).collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the text with a capital first letter.
fn capital(text: &str) -> String {
    text.replacen('t', "T", 1)
}
