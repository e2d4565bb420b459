use crate::measure::{Over, Scale};
use crate::setting::{Axis, Role};
use crate::{Error, Result};
use clap::Args;

/// Flags for a verdict over tasks.
#[derive(Clone, Debug, Default, Args)]
pub struct OverFlags {
    /// Make one verdict over the values of this axis: data sets, tasks, languages
    #[arg(long, value_name = "AXIS")]
    over: Option<String>,
    /// How to bring the differences of --over to one scale: as they are, relative to the baseline's mean, or as ranks
    /// [default: raw]
    #[arg(long, value_name = "SCALE", requires = "over")]
    scale: Option<Scale>,
}

impl OverFlags {
    /// Returns whether the flags ask for a verdict over tasks.
    pub fn is_given(&self) -> bool {
        self.over.is_some()
    }

    /// Sets `over` if the flags ask for a verdict over tasks.
    pub fn change(&self, over: &mut Option<Over>) {
        if let Some(axis) = self.over.clone() {
            *over = Some(Over { axis, scale: self.scale.unwrap_or_default() });
        }
    }
}

impl Over {
    /// Checks that a verdict can be made over this axis.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if the axis is not one with a verdict at each of two values or more, or if
    /// `until_decided` or `no_worse` is set. The message lists the axes to choose from.
    pub fn check(&self, axes: &[Axis], until_decided: bool, no_worse: bool) -> Result<()> {
        let refuse = |problem: String| Err(Error::Usage(problem));
        let axis = &self.axis;
        let is_there = |other: &&Axis| other.name == *axis && other.values.len() > 1;
        if !Role::Each.of(axes).any(|other| is_there(&other)) {
            let there: Vec<&str> = Role::Each.of(axes).map(|axis| axis.name.as_str()).collect();
            let there = match there.as_slice() {
                [] => "this comparison has none".to_owned(),
                names => format!("there are: {}", names.join(", ")),
            };
            return refuse(format!(
                "--over {axis}: it has to be an axis at each of whose values everything is compared, with two values or more; {there}"
            ));
        }
        if until_decided {
            return refuse(format!(
                "--until-decided adds seeds, and --over {axis} counts tasks, once; leave one of them out"
            ));
        }
        if no_worse {
            return refuse(format!(
                "--no-worse does not go with --over {axis}; leave one of them out"
            ));
        }
        Ok(())
    }
}
