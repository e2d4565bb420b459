//! Axes in the order of the report.

use crate::setting::{Axis, Role, Setting};

/// Returns the axes in the order of tables: compared, each, tuned.
pub(super) fn in_order(axes: &[Axis]) -> impl Iterator<Item = &Axis> {
    [Role::Compared, Role::Each, Role::Tuned].into_iter().flat_map(|role| role.of(axes))
}

pub(super) fn labels(axes: &[Axis], setting: &Setting, roles: &[Role]) -> Vec<String> {
    let wanted = in_order(axes).filter(|axis| roles.contains(&axis.role));
    wanted.map(|axis| axis.label_in(setting)).collect()
}
