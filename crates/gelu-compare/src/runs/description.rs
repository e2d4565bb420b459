use super::{Design, Recipe, Spec};
use serde::{Deserialize, Serialize};

/// A comparison's description of itself. Programs that cannot continue the comparison use it to show the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The name of the program that made the runs, as in its messages; see [`Spec::TOOL`].
    pub tool: String,
    /// The program that can continue the comparison.
    pub program: String,
    /// The command that carries out the comparison, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The comparison's design.
    pub design: Design,
}

impl Description {
    /// Creates the description of a recipe.
    pub fn of<R: Recipe>(experiment: &R) -> Self {
        let mut design = experiment.design();
        design.axes.iter_mut().for_each(|axis| *axis = axis.listed());
        Self {
            tool: R::Spec::TOOL.to_owned(),
            program: experiment.program(),
            command: experiment.command(),
            design,
        }
    }
}
