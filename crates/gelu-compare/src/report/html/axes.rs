//! Axes in the order of the page: what is compared, what that holds at, what is tuned.

use crate::setting::{Axis, Role, Setting};

/// Axes as tables have them: what is compared, what that holds at, what is tuned.
pub(super) fn in_order(axes: &[Axis]) -> impl Iterator<Item = &Axis> {
    [Role::Compared, Role::Each, Role::Tuned].into_iter().flat_map(|role| role.of(axes))
}

pub(super) fn labels(axes: &[Axis], setting: &Setting, roles: &[Role]) -> Vec<String> {
    let wanted = in_order(axes).filter(|axis| roles.contains(&axis.role));
    wanted.map(|axis| axis.label_in(setting)).collect()
}
