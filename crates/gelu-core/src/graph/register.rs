/// Implements the operations by registering their nodes: `$register(op, [tensors])` returns the
/// outputs.
macro_rules! register_operations {
    ($register:path) => {
        fn activation(x: FloatTensor<Self>, unit: Unit) -> FloatTensor<Self> {
            let [y] = $register(Op::Activation(unit), [x]);
            y
        }

        fn activation_backward(
            x: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            unit: Unit,
        ) -> FloatTensor<Self> {
            let [dx] = $register(Op::ActivationBackward(unit), [x, dy]);
            dx
        }

        fn activation_curvature(
            x: FloatTensor<Self>,
            factor: FloatTensor<Self>,
            unit: Unit,
        ) -> FloatTensor<Self> {
            let [dx] = $register(Op::ActivationCurvature(unit), [x, factor]);
            dx
        }

        fn bias_activation(
            x: FloatTensor<Self>,
            bias: FloatTensor<Self>,
            unit: Unit,
        ) -> FloatTensor<Self> {
            let [y] = $register(Op::Step(unit, None), [x, bias]);
            y
        }

        fn bias_activation_backward(
            x: FloatTensor<Self>,
            bias: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            unit: Unit,
        ) -> (FloatTensor<Self>, FloatTensor<Self>) {
            $register(Op::StepBackward(unit, None), [x, bias, dy]).into()
        }

        fn bias_activation_dropout(
            x: FloatTensor<Self>,
            bias: FloatTensor<Self>,
            key: IntTensor<Self>,
            unit: Unit,
            threshold: u32,
        ) -> FloatTensor<Self> {
            let [y] = $register(Op::Step(unit, Some(threshold)), [x, bias, key]);
            y
        }

        fn bias_activation_dropout_backward(
            x: FloatTensor<Self>,
            bias: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            key: IntTensor<Self>,
            unit: Unit,
            threshold: u32,
        ) -> (FloatTensor<Self>, FloatTensor<Self>) {
            $register(Op::StepBackward(unit, Some(threshold)), [x, bias, dy, key]).into()
        }

        fn dropout(
            x: FloatTensor<Self>,
            key: IntTensor<Self>,
            threshold: u32,
        ) -> FloatTensor<Self> {
            let [y] = $register(Op::Dropout(threshold), [x, key]);
            y
        }

        fn gated(x: FloatTensor<Self>, unit: Unit, gate: GateHalf) -> FloatTensor<Self> {
            let [y] = $register(Op::Gated(unit, gate), [x]);
            y
        }

        fn gated_backward(
            x: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            unit: Unit,
            gate: GateHalf,
        ) -> FloatTensor<Self> {
            let [dx] = $register(Op::GatedBackward(unit, gate), [x, dy]);
            dx
        }

        fn gated_pair(
            gate: FloatTensor<Self>,
            value: FloatTensor<Self>,
            unit: Unit,
        ) -> FloatTensor<Self> {
            let [y] = $register(Op::GatedPair(unit), [gate, value]);
            y
        }

        fn gated_pair_backward(
            gate: FloatTensor<Self>,
            value: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            unit: Unit,
        ) -> (FloatTensor<Self>, FloatTensor<Self>) {
            $register(Op::GatedPairBackward(unit), [gate, value, dy]).into()
        }

        fn stochastic_map(x: FloatTensor<Self>, key: IntTensor<Self>) -> FloatTensor<Self> {
            let [y] = $register(Op::Stochastic, [x, key]);
            y
        }

        fn stochastic_map_backward(
            x: FloatTensor<Self>,
            dy: FloatTensor<Self>,
            key: IntTensor<Self>,
        ) -> FloatTensor<Self> {
            let [dx] = $register(Op::StochasticBackward, [x, dy, key]);
            dx
        }
    };
}

pub(crate) use register_operations;
