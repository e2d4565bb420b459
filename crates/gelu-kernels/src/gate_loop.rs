//! The loop over gates that computes a function and its derivative together: the compiler finds what the two
//! formulas have in common, an exponential, and computes it once.

use crate::functions::{Function, Job, Kind};
use crate::lane::Lane;
use crate::level::{Level, Work};
use crate::places::{BLOCK, GateLoop, GatePlaces};
use core::marker::PhantomData;

/// The loop of a gate's function and its derivative, for the gates that are in use.
pub(crate) fn pick<E: Lane>(kind: Kind) -> Option<GateLoop<E>> {
    kind.with_common_gate(CompiledGate::<E>(PhantomData))
}

struct CompiledGate<E>(PhantomData<E>);

impl<E: Lane> Job for CompiledGate<E> {
    type Output = GateLoop<E>;

    fn run<F: Function>(self) -> Self::Output {
        apply_gate::<E, F>
    }
}

/// # Safety
///
/// The places must be valid to read and write for their length, whole blocks, and touched by nothing else.
unsafe fn apply_gate<E: Lane, F: Function>(level: Level, places: GatePlaces<E>, parameter: f64) {
    level.run(Gate::<E, F> { places, parameter, _function: PhantomData });
}

struct Gate<E, F> {
    places: GatePlaces<E>,
    parameter: f64,
    _function: PhantomData<F>,
}

impl<E: Lane, F: Function> Work for Gate<E, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let GatePlaces { gates, factors, length } = self.places;
        let mut start = 0;
        while start < length {
            // SAFETY: the block lies within the places, as the caller of `apply_gate` promised.
            unsafe {
                let gates = gates.add(start).cast::<[E; BLOCK]>();
                let factors = factors.add(start).cast::<[E; BLOCK]>();
                let (values, slopes) =
                    self.block::<FUSED>(gates.read_unaligned(), factors.read_unaligned());
                gates.write_unaligned(values);
                factors.write_unaligned(slopes);
            }
            start += BLOCK;
        }
    }
}

impl<E: Lane, F: Function> Gate<E, F> {
    /// The functions of a block of gates, and its factors times the derivatives.
    #[inline(always)]
    fn block<const FUSED: bool>(
        &self,
        gates: [E; BLOCK],
        mut factors: [E; BLOCK],
    ) -> ([E; BLOCK], [E; BLOCK]) {
        let mut values = [E::ZERO; BLOCK];
        for (i, (value, factor)) in values.iter_mut().zip(&mut factors).enumerate() {
            *value = gates[i].value::<F, FUSED>(self.parameter);
            *factor = gates[i].derivative::<F, FUSED>(self.parameter) * *factor;
        }
        (values, factors)
    }
}

#[cfg(test)]
mod tests {
    use crate::functions::Unit;
    use crate::kernel::{GateKernel, Kernel};
    use crate::lane::Lane;
    use crate::level::Level;
    use crate::places::Of;
    use alloc::vec::Vec;

    /// The bits of a gate's value and scaled derivative, by one loop and by one for each.
    fn assert_the_same<E: Lane>(unit: Unit, level: Level, length: usize, bits: fn(E) -> u64) {
        let number = |i: usize, scale: f64| E::of((i as f64 * 0.737).sin() * scale);
        let gates: Vec<E> = (0..length).map(|i| number(i, 30.0)).collect();
        let factors: Vec<E> = (0..length).map(|i| number(i + 5, 1.5)).collect();
        let (mut values, mut slopes) = (gates.clone(), factors.clone());
        GateKernel::new(unit, level).replace_and_scale(&mut values, &mut slopes);
        let kernel = |of| Kernel::new(of, unit.kind(), unit.parameter(), level);
        let (mut value, mut slope) = (gates.clone(), factors);
        kernel(Of::Gate).replace(&mut value);
        kernel(Of::GateDerivative).scale(&gates, &mut slope);
        for (got, expected) in values.into_iter().zip(value).chain(slopes.into_iter().zip(slope)) {
            assert_eq!(bits(got), bits(expected), "{unit}, {length} numbers, {level:?}");
        }
    }

    #[test]
    fn both_at_once_have_the_bits_of_each_alone() {
        for level in Level::available() {
            for unit in Unit::ALL {
                for length in [0, 1, 31, 32, 33, 1000] {
                    assert_the_same(unit, level, length, |x: f32| x.to_bits().into());
                    assert_the_same(unit, level, length, f64::to_bits);
                }
            }
        }
    }
}
