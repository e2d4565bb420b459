//! Tests that captured graphs hold each operation as a single node.
//!
//! ```text
//! cargo test --release -p gelu-core --features capture --test capture
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::tensor::{Device, Tensor};
use burn_core::backend::Capture;
use burn_core::backend::ir::{OperationIr, ScalarIr};
use gelu_core::functional::{self, Unit};
use gelu_core::random::{Draw, DropoutMask, Key};

#[test]
fn captured_graph_has_one_node_an_operation() {
    let device = Device::capture();
    let captured = device
        .capture_scope(|scope| {
            let x = Tensor::<2>::from_floats([[1.0, -2.0, 3.0]], &device);
            let bias = Tensor::<1>::from_floats([0.5, 0.0, -0.5], &device);
            let key = Key::known(Draw { seed: 7, step: 3 }, &device);
            let dropout = DropoutMask::new(0.5, key);
            let y = functional::bias_activation_dropout(x, bias, Unit::Gelu, Some(dropout));
            assert_eq!(y.dims(), [1, 3]);
            let y = functional::silu(y);
            let key = Key::known(Draw { seed: 7, step: 4 }, &device);
            let y = functional::dropout(y, DropoutMask::new(0.25, key));
            let id = y.try_into_primitive::<Capture>().unwrap().id();
            scope.complete([], [id])
        })
        .unwrap();
    let nodes = captured.graph.operations.iter().filter_map(|operation| match operation {
        OperationIr::Custom(node) => Some(node),
        _ => None,
    });
    let nodes: Vec<_> = nodes.collect();
    assert_eq!(nodes.len(), 3);
    assert_eq!(nodes[0].id, "gelu::bias_activation_dropout");
    let half = 1 << 31;
    assert_eq!(nodes[0].scalars, [0, half].map(ScalarIr::UInt));
    assert_eq!((nodes[0].inputs.len(), nodes[0].outputs.len()), (3, 1));
    assert_eq!(nodes[1].id, "gelu::activation");
    assert_eq!(nodes[2].id, "gelu::dropout");
    assert_eq!(nodes[2].scalars, [ScalarIr::UInt(1 << 30)]);
    assert_eq!((nodes[2].inputs.len(), nodes[2].outputs.len()), (2, 1));
}
