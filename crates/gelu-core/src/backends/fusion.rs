use crate::graph::{self, Op, register_operations};
use crate::{ActivationOps, GateHalf, Unit};
use burn_core::backend::tensor::{FloatTensor, IntTensor};
use burn_fusion::custom::{
    CustomOpIr, HandleContainer, Operation, OperationIr, OperationOutput, StreamId,
};
use burn_fusion::{ExecutionError, Fusion, FusionBackend, FusionRuntime};
use core::marker::PhantomData;

#[derive(Debug)]
struct Node<B> {
    desc: CustomOpIr,
    _backend: PhantomData<B>,
}

impl<B: FusionBackend + ActivationOps> Operation<B::FusionRuntime> for Node<B> {
    fn execute(
        &self,
        handles: &mut HandleContainer<<B::FusionRuntime as FusionRuntime>::FusionHandle>,
    ) -> Result<(), ExecutionError> {
        graph::execute::<B>(handles, &self.desc);
        Ok(())
    }
}

fn register<B: FusionBackend + ActivationOps, const IN: usize, const OUT: usize>(
    op: Op,
    inputs: [FloatTensor<Fusion<B>>; IN],
) -> [FloatTensor<Fusion<B>>; OUT] {
    let client = inputs[0].client.clone();
    let inputs = inputs.map(|input| input.into_ir());
    let desc = op.describe(&inputs, || client.create_empty_handle());
    let node = Node::<B> { desc: desc.clone(), _backend: PhantomData };
    client.register(StreamId::current(), OperationIr::Custom(desc), node).outputs()
}

impl<B: FusionBackend + ActivationOps> ActivationOps for Fusion<B> {
    register_operations!(register::<B, _, _>);
}
