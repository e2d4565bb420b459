//! The parts of a setting by the role of its axes, and its names for people and files.

use super::{Axis, Role, Setting, Value};

impl Axis {
    /// Returns the label of the axis's value in a setting; a dash if there is none.
    pub fn label_in(&self, setting: &Setting) -> String {
        setting.get(&self.name).map_or_else(|| "–".to_owned(), |value| self.label(value))
    }
}

impl Setting {
    /// Returns the setting in the order of `axes`. Values of other axes come last.
    pub fn in_order_of(&self, axes: &[Axis]) -> Self {
        let place = |name: &str| axes.iter().position(|axis| axis.name == name);
        let mut pairs: Vec<(&str, &Value)> = self.iter().collect();
        pairs.sort_by_key(|(name, _)| place(name).unwrap_or(axes.len()));
        Self::new(pairs.into_iter().map(|(name, value)| (name, value.clone())))
    }

    /// Returns the part of the setting on the axes of a role.
    pub fn of_role(&self, axes: &[Axis], role: Role) -> Self {
        let part = axes.iter().filter(|axis| axis.role == role);
        Self::new(part.filter_map(|axis| Some((axis.name.clone(), self.get(&axis.name)?.clone()))))
    }

    /// Returns the name of an arm in sentences. If one axis is compared, it is only the label of the value.
    pub fn arm_label(&self, axes: &[Axis]) -> String {
        let compared: Vec<&Axis> = Role::Compared.of(axes).collect();
        match compared.as_slice() {
            [axis] => axis.label_in(self),
            several => {
                let said = |axis: &&Axis| match self.get(&axis.name) {
                    Some(value) if value.is_word() => axis.label_in(self),
                    _ => format!("{} {}", axis.title(), axis.label_in(self)),
                };
                several.iter().map(said).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Returns the context of a verdict: `dropout 0.5`; empty if no axis has a verdict at each value.
    pub fn context(&self, axes: &[Axis]) -> String {
        let said = |axis: &Axis| format!("{} {}", axis.title(), axis.label_in(self));
        Role::Each.of(axes).map(said).collect::<Vec<_>>().join(", ")
    }

    /// Returns the setting with the names that files use for its axes.
    pub fn in_columns(&self, axes: &[Axis]) -> Self {
        let column = |name: &str| {
            let axis = axes.iter().find(|axis| axis.name == name);
            axis.map_or_else(|| name.to_owned(), |axis| axis.column().to_owned())
        };
        Self::new(self.iter().map(|(name, value)| (column(name), value.clone())))
    }
}
