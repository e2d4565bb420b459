use super::compare::VariationFlags;
use super::selection::Selection;
use crate::Result;
use clap::Args;
use gelu_compare::cli::{Submission, absolute};
use std::process::ExitCode;

/// Starts workers on a cluster.
#[derive(Debug, Args)]
pub(super) struct Submit {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    varied: VariationFlags,
    #[command(flatten)]
    submission: Submission,
}

impl Submit {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { selection, varied, submission } = self;
        let (selected, comparison) = varied.select(selection)?;
        let mut words = selected.words(&selected.devices[0]);
        if let Some(data) = &selected.data_folder {
            words.extend(["--data".into(), absolute(data)?.into()]);
        }
        submission.run("gelu", &selected.recipe.name, &selected.out, words, || {
            selected.make_folder(&comparison).map(drop)
        })
    }
}
