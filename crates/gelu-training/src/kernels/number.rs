use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A float that the loops are written for.
pub(crate) trait Number:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The nearest one.
    fn of(value: f64) -> Self;

    /// √x, correctly rounded.
    fn root(self) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
}

impl Number for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
}
