use super::{Design, Experiment, Spec};
use serde::{Deserialize, Serialize};

/// What a comparison's folder says of itself, so that programs can show it that cannot go on with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// What made its runs, as messages begin; see [`Spec::TOOL`].
    pub tool: String,
    /// The program that goes on with it.
    pub program: String,
    /// The command that carries it out, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What it compares, and how it is decided.
    pub design: Design,
}

impl Description {
    /// That of an experiment.
    pub fn of<E: Experiment>(experiment: &E) -> Self {
        let mut design = experiment.design();
        design.axes.iter_mut().for_each(|axis| *axis = axis.listed());
        Self {
            tool: E::Spec::TOOL.to_owned(),
            program: experiment.program(),
            command: experiment.command(),
            design,
        }
    }
}
