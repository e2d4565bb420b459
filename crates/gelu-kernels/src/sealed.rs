/// Seals the traits of numbers, because loops rely on what a type's implementation states.
pub trait Sealed {}

impl Sealed for f32 {}
impl Sealed for f64 {}
#[cfg(feature = "half")]
impl Sealed for half::bf16 {}
#[cfg(feature = "half")]
impl Sealed for half::f16 {}
