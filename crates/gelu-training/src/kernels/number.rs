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

    /// 0 in place of a subnormal number. A moment that only decays would end as one and stay: the
    /// last ones times 0.9 are rounded to themselves, and cost more every step ([`super::subnormal`]).
    fn flushed(self) -> Self;
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

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { 0.0 } else { self }
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

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE { 0.0 } else { self }
    }
}
