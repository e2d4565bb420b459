use crate::Unit;
use burn_core::tensor::DType;
use burn_std::{bf16, f16};

/// Returns the unit with its parameter rounded to the tensor's type, so that every backend compares and
/// multiplies with the same number, whatever type it computes in. A parameter that f16 cannot hold becomes the
/// nearest f16 number above 0 in magnitude: no parameter becomes 0 or infinite.
///
/// # Panics
///
/// If the parameter is out of range ([`Unit::validated`]).
pub fn in_type(unit: Unit, dtype: DType) -> Unit {
    /// The smallest and the largest positive number of f16.
    const F16: [f64; 2] = [5.960_464_477_539_063e-8, 65_504.0];
    let unit = unit.checked();
    let parameter = match (unit.parameter(), dtype) {
        (parameter, DType::F64) => parameter,
        (parameter, DType::BF16) => bf16::from_f64(parameter).to_f64(),
        (parameter, DType::F16) if parameter != 0.0 => {
            let magnitude = parameter.abs().clamp(F16[0], F16[1]);
            f16::from_f64(magnitude.copysign(parameter)).to_f64()
        }
        (parameter, _) => f64::from(parameter as f32),
    };
    Unit::from_parts(unit.kind(), parameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_number_of_the_tensors_type() {
        // The expected values are the numbers of the types next to 0.1 (IEEE 754; bf16 is the first 16 bits of
        // f32), and the ends of f16.
        for (dtype, given, expected) in [
            (DType::F64, 0.1, 0.1),
            (DType::F32, 0.1, 13_421_773.0 / 134_217_728.0),
            (DType::F16, 0.1, 1_638.0 / 16_384.0),
            (DType::BF16, 0.1, 205.0 / 2_048.0),
            (DType::F16, 1e-12, 2f64.powi(-24)),
            (DType::F16, -1e12, -65_504.0),
            (DType::F16, 0.0, 0.0),
            (DType::F32, 1e18, 999_999_984_306_749_440.0),
        ] {
            let unit = in_type(Unit::LeakyRelu { slope: given }, dtype);
            assert_eq!(unit, Unit::LeakyRelu { slope: expected }, "{dtype:?} {given}");
        }
        assert_eq!(in_type(Unit::Gelu, DType::F16), Unit::Gelu);
    }
}
