//! Macros with the code that `#[derive(Module)]` generates, for modules that write `visit` and `map` by hand
//! because their names in records are not always those of their fields.

/// Implements the methods of `Module` that treat all fields alike. Fields after the semicolon are not
/// modules.
macro_rules! of_fields {
    ($($module:ident),*; $($other:ident),*) => {
        fn collect_devices(&self, devices: Devices) -> Devices {
            $(let devices = self.$module.collect_devices(devices);)*
            devices
        }

        fn fork(self, device: &Device) -> Self {
            Self { $($module: self.$module.fork(device),)* $($other: self.$other,)* }
        }

        fn to_device(self, device: &Device) -> Self {
            Self { $($module: self.$module.to_device(device),)* $($other: self.$other,)* }
        }

        fn train(self) -> Self {
            Self { $($module: self.$module.train(),)* $($other: self.$other,)* }
        }

        fn valid(&self) -> Self {
            Self { $($module: self.$module.valid(),)* $($other: self.$other,)* }
        }

        fn materialize(self) -> Self {
            Self { $($module: self.$module.materialize(),)* $($other: self.$other,)* }
        }
    };
}

/// Runs part of a walk below a field's name.
macro_rules! within {
    ($walker:ident, $name:expr, $layer:expr, $walk:expr) => {{
        let container = concat!("Struct:", $layer);
        $walker.enter_module($name, container);
        let result = $walk;
        $walker.exit_module($name, container);
        result
    }};
}

/// Implements how the module is printed, according to its `ModuleDisplay`.
macro_rules! displayed {
    ($layer:ident) => {
        impl burn_core::module::ModuleDisplayDefault for $layer {
            fn content(&self, content: Content) -> Option<Content> {
                content.set_top_level_type(stringify!($layer)).optional()
            }

            fn num_params(&self) -> usize {
                Module::num_params(self)
            }
        }

        impl core::fmt::Display for $layer {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(&self.format(DisplaySettings::default()))
            }
        }
    };
}

pub(super) use {displayed, of_fields, within};
