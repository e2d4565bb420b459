use super::real::Real;
use super::{cauchy, elu, logistic, normal, single};

/// An elementwise function, in the precisions that the kernels ask for.
pub(crate) trait Formula: Copy + Send + Sync {
    /// In f64, for 16-bit floats, which are rounded from it once.
    fn wide(self, x: f64) -> f64;

    /// On an f32.
    #[inline(always)]
    fn single<R: Real>(self, x: R) -> R {
        x.map(|x| self.wide(f64::from(x)) as f32)
    }
}

/// Names functions as formulas; a `single` one where f32 has its own.
macro_rules! formulas {
    ($($name:ident: $wide:path $(, $single:path)?;)*) => {$(
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name;

        impl Formula for $name {
            #[inline(always)]
            fn wide(self, x: f64) -> f64 {
                $wide(x)
            }
            $(
                #[inline(always)]
                fn single<R: Real>(self, x: R) -> R {
                    $single(x)
                }
            )?
        }
    )*};
}

formulas! {
    Gelu: normal::gelu, single::normal::gelu;
    GeluDerivative: normal::gelu_derivative, single::normal::gelu_derivative;
    GeluTanh: logistic::gelu_tanh, single::tanh::gelu_tanh;
    GeluTanhDerivative: logistic::gelu_tanh_derivative, single::tanh::gelu_tanh_derivative;
    GeluSigmoid: logistic::gelu_sigmoid;
    GeluSigmoidDerivative: logistic::gelu_sigmoid_derivative;
    Silu: logistic::silu;
    SiluDerivative: logistic::silu_derivative;
    Cauchy: cauchy::cauchy;
    CauchyDerivative: cauchy::cauchy_derivative;
    Elu: elu::elu;
    EluDerivative: elu::elu_derivative;
    NormalCdf: normal::cdf;
    NormalPdf: normal::pdf;
}

/// Formulas without arithmetic, the same in every type.
macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident: |$x:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name;

        impl Formula for $name {
            #[inline(always)]
            fn wide(self, $x: f64) -> f64 {
                $value
            }

            #[inline(always)]
            fn single<R: Real>(self, x: R) -> R {
                x.map(|$x| $value)
            }
        }
    )*};
}

choices! {
    /// `max(x, 0)` that lets NaN through; −0 and negative numbers become +0.
    Relu: |x| if x <= 0.0 { 0.0 } else { x };
    /// 0 below and at 0, 1 above.
    ReluDerivative: |x| {
        let step = if x > 0.0 { 1.0 } else { 0.0 };
        if x.is_nan() { x } else { step }
    };
    /// `x`.
    Identity: |x| x;
    /// 1, and NaN for NaN.
    One: |x| if x.is_nan() { x } else { 1.0 };
}
