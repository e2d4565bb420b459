//! Tests of the operations on a remote device: a real server on this machine, over a socket.
//!
//! ```text
//! cargo test --release -p gelu-core --features remote-tests --test remote
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::backend::Flex;
use burn::tensor::{Device, Tensor, TensorData};
use burn_core::tensor::remote::RemoteHost;
use burn_remote::server::{BackendServer, WebSocketTransport};
use gelu_core::GateHalf;
use gelu_core::functional::{self, Unit};
use gelu_core::random::{Draw, DropoutMask, Key};

/// Returns the runtime of a server with the registered operations, and a device on the server.
fn remote() -> (tokio::runtime::Runtime, Device) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_io().build().unwrap();
    let mut registry = burn_router::CustomOpRegistry::<Flex>::new();
    gelu_core::register_activation_ops(&mut registry);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = RemoteHost::websocket(&format!("ws://{}", listener.local_addr().unwrap()));
    runtime.spawn(
        BackendServer::<Flex>::new([Default::default()])
            .with_custom_ops(registry)
            .serve_async(WebSocketTransport::from_listener(listener)),
    );
    let device = Device::remote_options(&host).init().unwrap();
    (runtime, device)
}

/// Returns the results of every operation and its gradients.
fn everything(device: &Device) -> Vec<TensorData> {
    let device = device.clone().autodiff();
    let x: Vec<f32> = (0..96).map(|index| index as f32 * 0.125 - 6.0).collect();
    let key = || Key::known(Draw { seed: 5, step: 1 }, &device);
    let input = || Tensor::<1>::from_floats(x.as_slice(), &device).reshape([8, 12]).require_grad();
    let bias = Tensor::<1>::from_floats([0.25; 12], &device).require_grad();
    let mut results = Vec::new();
    for unit in Unit::ALL {
        let input = input();
        let y = functional::unit(input.clone(), unit);
        results.push(y.clone().into_data());
        results.push(input.grad(&y.sum().backward()).unwrap().into_data());
    }
    for dropout in [None, Some(DropoutMask::new(0.5, key()))] {
        let input = input();
        let y =
            functional::bias_activation_dropout(input.clone(), bias.clone(), Unit::Gelu, dropout);
        results.push(y.clone().into_data());
        let gradients = y.sum().backward();
        results.push(input.grad(&gradients).unwrap().into_data());
        results.push(bias.grad(&gradients).unwrap().into_data());
    }
    type Map<'a> = Box<dyn Fn(Tensor<2>) -> Tensor<2> + 'a>;
    let maps: [Map<'_>; OTHERS] = [
        Box::new(|x| functional::stochastic_gelu(x, key())),
        Box::new(|x| functional::dropout(x, DropoutMask::new(0.5, key()))),
        Box::new(|x| functional::gated(x, Unit::Silu, GateHalf::First)),
        Box::new(|x| functional::gated(x, Unit::Elu { alpha: 0.3 }, GateHalf::Last)),
        Box::new(|x| functional::gated_pair(x.clone(), x * 0.5, Unit::Silu)),
        Box::new(|x| functional::unit_backward(x.clone(), x, Unit::Gelu)),
    ];
    for map in maps {
        let input = input();
        let y = map(input.clone());
        results.push(y.clone().into_data());
        results.push(input.grad(&y.sum().backward()).unwrap().into_data());
    }
    results
}

/// The number of operations other than functions, and of steps with a bias.
const OTHERS: usize = 6;

#[test]
fn remote_device_computes_what_its_server_would() {
    let (runtime, remote) = remote();
    let (there, here) = (everything(&remote), everything(&Device::flex()));
    assert_eq!(there.len(), 2 * (Unit::ALL.len() + OTHERS) + 6);
    for (there, here) in there.iter().zip(&here) {
        there.assert_eq(here, true);
    }
    runtime.shutdown_background();
}
