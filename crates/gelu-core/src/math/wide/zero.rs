//! The derivatives near their zero, as Taylor series about it: everything else loses there what
//! it subtracts. The coefficients are printed by `tests/accuracy/fit.py`.

use super::Exact;

/// A function about its zero `high + low`: `Σ coefficients[k]·δ^(k+1)`, δ the distance from it.
pub(super) struct Zero<const N: usize> {
    high: f64,
    low: f64,
    coefficients: [f64; N],
}

impl<const N: usize> Zero<N> {
    /// The series is cut below 2^-58 of its first term up to here.
    const RADIUS: f64 = 0.125;

    /// The function at `x`, if that is near enough to the zero.
    pub(super) fn series(&self, x: Exact) -> Option<f64> {
        let distance = (x.high - self.high) + (x.low - self.low);
        (distance.abs() <= Self::RADIUS).then(|| {
            let terms = self.coefficients.iter().rev();
            terms.fold(0.0, |sum, coefficient| sum * distance + coefficient) * distance
        })
    }
}

pub(super) const GELU: Zero<13> = Zero {
    high: -0.7517915246935645,
    low: 1.4956759177009883e-17,
    coefficients: [
        0.4314939923140469,
        0.388284982990552,
        -0.018199676398671087,
        -0.1140082332972217,
        -0.014771522148244337,
        0.019421679838189067,
        0.004539228379125415,
        -0.002239538068073497,
        -0.0007448268386746817,
        0.00018633974623233514,
        8.615947861116571e-05,
        -1.121438018842664e-05,
        -7.74846130700372e-06,
    ],
};

pub(super) const SILU: Zero<13> = Zero {
    high: -1.2784645427610737,
    low: -1.0946994183093437e-16,
    coefficients: [
        0.2178117057198001,
        0.1466487969969469,
        0.018874814223782312,
        -0.015222655223188032,
        -0.006606589138356696,
        0.000126627410081122,
        0.0007985218818397998,
        0.00018570724361186496,
        -4.090534237428612e-05,
        -2.9733542213263917e-05,
        -2.942631888842464e-06,
        2.346029682463866e-06,
        8.599695028268575e-07,
    ],
};

pub(super) const GELU_TANH: Zero<14> = Zero {
    high: -0.7524614220710163,
    low: 3.635560509207687e-17,
    coefficients: [
        0.4304000910248585,
        0.38751844613578895,
        -0.01578285352184803,
        -0.11394448308095899,
        -0.01661932834305256,
        0.019682309459833118,
        0.005261059254921912,
        -0.0024227318458750974,
        -0.0009274420230205449,
        0.00026392764052681053,
        0.00012425227802639782,
        -3.4956171694436116e-05,
        -1.5950896871645105e-05,
        5.918611710894005e-06,
    ],
};
