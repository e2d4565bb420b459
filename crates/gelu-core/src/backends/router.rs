use crate::graph::{self, Op, register_operations};
use crate::{ActivationOps, GateHalf, Unit};
use burn_core::backend::{
    ir::{BackendIr, OperationIr, OperationOutput},
    tensor::{FloatTensor, IntTensor},
};
use burn_router::{BackendRouter, CustomOpRegistry, RouterChannel, RouterClient};

/// Registers this crate's operations with a remote server, or with an interpreter of captured
/// graphs.
///
/// A client's activations arrive as operations named `gelu::…`. Call this function on the registry
/// that you pass to the server's `with_custom_ops` or to `TensorInterpreter::with_custom_ops`.
pub fn register_activation_ops<B: BackendIr + ActivationOps>(registry: &mut CustomOpRegistry<B>) {
    for id in Op::IDS {
        registry.register(id, |handles, desc, _device| graph::execute::<B>(handles, desc));
    }
}

fn register<C: RouterChannel, const IN: usize, const OUT: usize>(
    op: Op,
    inputs: [FloatTensor<BackendRouter<C>>; IN],
) -> [FloatTensor<BackendRouter<C>>; OUT] {
    let client = inputs[0].client.clone();
    let inputs = inputs.map(|input| input.into_ir());
    let desc = op.describe(&inputs, || client.create_empty_handle());
    client.register(OperationIr::Custom(desc)).outputs()
}

impl<C: RouterChannel> ActivationOps for BackendRouter<C> {
    register_operations!(register::<C, _, _>);
}
