//! Evaluates an [`Expression`] on tensors. Constants stay numbers until they meet a tensor. Autodiff differentiates
//! the composition of tensor operations.

use super::expression::{Arguments, Binary, Expression, Unary};
use burn::tensor::{Tensor, activation};
use gelu_core::functional::{self, Unit};

/// The value of a subexpression.
#[allow(
    clippy::large_enum_variant,
    reason = "one lives for a moment; Burn boxes no tensors either"
)]
enum Value {
    Number(f64),
    Tensor(Tensor<1>),
}

impl Expression {
    /// Returns the value of the expression at every element.
    ///
    /// # Shapes
    ///
    /// - arguments and output: `[any]`, all the same
    ///
    /// # Panics
    ///
    /// If the expression has more arguments or learned constants than `arguments` gives, or `arguments.given` is
    /// empty.
    pub fn on(&self, arguments: Arguments<'_, Tensor<1>>) -> Tensor<1> {
        match self.value(arguments) {
            Value::Tensor(tensor) => tensor,
            Value::Number(number) => arguments.given[0].full_like(number),
        }
    }

    fn value(&self, arguments: Arguments<'_, Tensor<1>>) -> Value {
        match self {
            Self::Number(number) => Value::Number(*number),
            Self::Argument(index) => Value::Tensor(arguments.given[*index].clone()),
            Self::Learned(index) => Value::Tensor(arguments.learned[*index].clone()),
            Self::Unary(function, argument) => match argument.value(arguments) {
                Value::Number(number) => Value::Number(function.apply(number)),
                Value::Tensor(tensor) => Value::Tensor(unary(*function, tensor)),
            },
            Self::Binary(function, a, b) => match (a.value(arguments), b.value(arguments)) {
                (Value::Number(a), Value::Number(b)) => Value::Number(function.apply(a, b)),
                (Value::Tensor(a), Value::Number(b)) => right_number(*function, a, b),
                (Value::Number(a), Value::Tensor(b)) => Value::Tensor(left_number(*function, a, b)),
                (Value::Tensor(a), Value::Tensor(b)) => Value::Tensor(tensors(*function, a, b)),
            },
        }
    }
}

fn unary(function: Unary, x: Tensor<1>) -> Tensor<1> {
    match function {
        Unary::Negate => x.neg(),
        Unary::Exp => x.exp(),
        Unary::Ln => x.log(),
        Unary::Tanh => x.tanh(),
        Unary::Erf => x.erf(),
        Unary::Sqrt => x.sqrt(),
        Unary::Abs => x.abs(),
        Unary::Sigmoid => activation::sigmoid(x),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Log1p => x.log1p(),
        Unary::Expm1 => expm1(x),
        Unary::Softplus => functional::unit(x, Unit::Softplus { beta: 1.0 }),
        Unary::NormalCdf => functional::normal_cdf(x),
        Unary::Gelu => functional::gelu(x),
        Unary::Silu => functional::silu(x),
        Unary::Relu => functional::relu(x),
    }
}

/// Returns `e^x − 1`, built from ELU: ELU(x) for x ≤ 0, and −ELU(−x)·`e^x` for x > 0.
fn expm1(x: Tensor<1>) -> Tensor<1> {
    let elu = |x: Tensor<1>| functional::unit(x, Unit::Elu { alpha: 1.0 });
    let above = x.clone().mask_fill(x.clone().lower_equal_elem(0.0), 0.0);
    let below = x.clone().mask_fill(x.greater_elem(0.0), 0.0);
    elu(below) - elu(above.clone().neg()) * above.exp()
}

fn right_number(function: Binary, a: Tensor<1>, b: f64) -> Value {
    Value::Tensor(match function {
        Binary::Add => a.add_scalar(b),
        Binary::Subtract => a.sub_scalar(b),
        Binary::Multiply => a.mul_scalar(b),
        Binary::Divide => a.div_scalar(b),
        Binary::Minimum => a.clamp_max(b),
        Binary::Maximum => a.clamp_min(b),
        // The derivative as a power, 0·a⁻¹, would be NaN at 0.
        Binary::Power if b == 0.0 => return Value::Number(1.0),
        // Whole powers are defined for negative numbers; `powf` is not.
        Binary::Power if b.fract() == 0.0 && b.abs() <= 64.0 => a.powi_scalar(b as i32),
        Binary::Power => a.powf_scalar(b),
    })
}

fn left_number(function: Binary, a: f64, b: Tensor<1>) -> Tensor<1> {
    match function {
        Binary::Add => b.add_scalar(a),
        Binary::Subtract => b.neg().add_scalar(a),
        Binary::Multiply => b.mul_scalar(a),
        Binary::Divide => b.recip().mul_scalar(a),
        Binary::Minimum => b.clamp_max(a),
        Binary::Maximum => b.clamp_min(a),
        Binary::Power if a > 0.0 => b.mul_scalar(a.ln()).exp(),
        Binary::Power => b.full_like(a).powf(b),
    }
}

fn tensors(function: Binary, a: Tensor<1>, b: Tensor<1>) -> Tensor<1> {
    match function {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Power => a.powf(b),
        Binary::Minimum => a.min_pair(b),
        Binary::Maximum => a.max_pair(b),
    }
}

#[cfg(test)]
mod tests {
    use crate::activation::Formula;
    use burn::tensor::{Device, Tensor, TensorData};

    /// Every operator and function, with constants on either side.
    const FORMULAS: [&str; 29] = [
        "x*tanh(ln(1+exp(x)))",
        "0.5*x*(1+erf(x/2^0.5))",
        "x*sigmoid(1.702*x)",
        "max(x,0)+min(0,exp(x)-1)",
        "max(x,0.1*x)",
        "min(x,x^2)",
        "x^3-2*x^2+1",
        "x/(1+abs(x))",
        "1/(2+x^2)",
        "2^x",
        "(x^2+1)^0.5",
        "(x^2+1)^x",
        "x^-2",
        "sqrt(x*x+1)-1",
        "-x+3-x",
        "(x-1)/2",
        "x+x^0",
        "(3-1)*x",
        "x+sin(x)^2",
        "cos(x)",
        "log1p(x^2)",
        "log1p(3)*x",
        "expm1(x)",
        "softplus(2*x)",
        "x*normal_cdf(2*x)",
        "gelu(x)+0.1*sin(x)",
        "silu(x)-relu(x)^2",
        "x*sigmoid({b=1.5}*x)",
        "{a=0.5}*x^2+{b=-2}*x+{a}",
    ];

    /// Inputs away from 0, 1 and the other points where some of the formulas have a corner.
    const AT: [f64; 8] = [-2.7, -1.3, -0.45, -0.05, 0.15, 0.62, 1.4, 2.9];

    fn inputs() -> TensorData {
        TensorData::new(AT.map(|x| x as f32).to_vec(), [AT.len()])
    }

    #[test]
    fn tensors_get_the_values_of_double_precision() {
        for text in FORMULAS {
            let formula = Formula::parse(text).unwrap();
            let y = formula.on(Tensor::from_data(inputs(), &Device::default())).into_data();
            for (x, y) in AT.iter().zip(y.iter::<f64>()) {
                let expected = formula.at(f64::from(*x as f32));
                assert!(
                    (y - expected).abs() <= 3e-6 * expected.abs().max(0.3),
                    "{text} at {x}: {y}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn safe_forms_keep_their_digits_where_others_overflow_or_cancel() {
        let device = Device::default().autodiff();
        // The values are from Python's math (log1p, expm1, log1p(exp(−|x|)) + max(x, 0), and erfc), followed by the
        // derivatives.
        for (text, x, value, slope) in [
            ("log1p(x)", 1e-6, 9.999_995e-7, 0.999_999),
            ("expm1(x)", 1e-6, 1.000_000_5e-6, 1.000_001),
            ("expm1(x)", -1e-6, -9.999_995e-7, 0.999_999),
            ("expm1(x)", 0.0, 0.0, 1.0),
            ("expm1(x)", -200.0, -1.0, 0.0),
            ("expm1(x)", 3.0, 19.085_536_923_187_668, 20.085_536_923_187_668),
            ("softplus(x)", 200.0, 200.0, 1.0),
            ("softplus(x)", -50.0, 1.928_749_847_963_917_8e-22, 1.928_749_847_963_917_8e-22),
            ("normal_cdf(x)", -5.0, 2.866_515_718_791_939e-7, 1.486_719_514_734_297_7e-6),
            ("gelu(x)", -5.0, -1.433_257_859_395_969_6e-6, -7.146_946_001_792_295e-6),
            ("relu(x)", -5.0, 0.0, 0.0),
        ] {
            let input = Tensor::<1>::from_floats([x as f32], &device).require_grad();
            let formula = Formula::parse(text).unwrap();
            let y = formula.on(input.clone());
            let gradients = y.clone().sum().backward();
            let got = [y, input.grad(&gradients).unwrap()]
                .map(|tensor| f64::from(tensor.into_scalar::<f32>()));
            for (got, exact) in got.into_iter().zip([value, slope]) {
                assert!((got - exact).abs() <= 4e-7 * exact.abs(), "{text} at {x}: {got}, {exact}");
            }
            assert!((formula.at(x) - value).abs() <= 1e-9 * value.abs(), "{text} at {x}");
        }
    }

    #[test]
    fn gradients_are_the_difference_quotients() {
        let device = Device::default().autodiff();
        for text in FORMULAS {
            let formula = Formula::parse(text).unwrap();
            let x = Tensor::<1>::from_data(inputs(), &device).require_grad();
            let gradients = formula.on(x.clone()).sum().backward();
            let slopes = x.grad(&gradients).unwrap().into_data();
            for (x, slope) in AT.iter().zip(slopes.iter::<f64>()) {
                let x = f64::from(*x as f32);
                let step = 1e-5;
                let expected = (formula.at(x + step) - formula.at(x - step)) / (2.0 * step);
                let room = 1e-5 * expected.abs().max(1.0);
                assert!((slope - expected).abs() <= room, "{text} at {x}: {slope}, not {expected}");
            }
        }
    }
}
