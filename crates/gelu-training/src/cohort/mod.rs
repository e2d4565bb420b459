//! Many networks of one architecture as one program: a cohort.
//!
//! A comparison trains the same small network from many seeds. Such a network leaves a processor idle: most of the
//! time goes into calling operations, not into them. Here a parameter is a tensor `[slices, …]` with one slice for
//! each network, and an operation works on all of them, so that it is called once for all.
//!
//! - [`CohortLinear`] is a linear layer of each network, with the activation and the dropout that follow it, which
//!   may differ from network to network ([`SliceUnits`]).
//! - [`squared_errors`] and [`cross_entropies`] are the mean loss of each network. Gradients of their sum are each
//!   network's own.
//! - [`CohortAdam`] steps each network by its own learning rate, and [`clip_by_slice_norm`] keeps the norm of each
//!   network's gradients below a limit. [`AdamMoments`] is what a record of an optimiser holds of one network.
//!
//! Nothing flows from one slice to another: a network that diverges leaves the others alone. On Flex each slice of
//! an f32 tensor is computed by the kernels that the network would have alone ([`layers`](crate::layers),
//! [`Adam`](crate::Adam)), so that it has the bits of a network that trains alone, whatever the number of
//! networks. Other backends multiply all slices at a time, and may choose their algorithm by the number of slices.
//!
//! A cohort is built by hand: Burn has no transformation like JAX's `vmap` that makes one of any module. Its layers
//! are stacked and taken apart by [`CohortLinear::of`] and [`CohortLinear::slice`]:
//!
//! ```
//! use burn::module::Module;
//! use burn::nn::{Linear, LinearConfig};
//! use burn::optim::GradientsParams;
//! use burn::tensor::{Device, Tensor};
//! use gelu_core::functional::Unit;
//! use gelu_training::AdamConfig;
//! use gelu_training::cohort::{CohortAdam, CohortLinear, SliceUnits, squared_errors};
//!
//! #[derive(Module, Debug)]
//! struct Cohort {
//!     hidden: CohortLinear,
//!     output: CohortLinear,
//! }
//!
//! let device = Device::default().autodiff();
//! // Three networks.
//! let networks = [(); 3].map(|()| {
//!     [LinearConfig::new(2, 8).init(&device), LinearConfig::new(8, 1).init(&device)]
//! });
//! let [hidden, output] = [0, 1].map(|layer| {
//!     let layers: Vec<Linear> = networks.iter().map(|network| network[layer].clone()).collect();
//!     CohortLinear::of(&layers)
//! });
//! let mut cohort = Cohort { hidden, output };
//! let mut adam = CohortAdam::new(AdamConfig::new().build(), 3);
//! // The networks' own batches, and what they are to find.
//! let (x, y) = (Tensor::<3>::ones([3, 4, 2], &device), Tensor::<3>::zeros([3, 4, 1], &device));
//!
//! let (gelu, identity) = (SliceUnits::all(Unit::Gelu, 3), SliceUnits::all(Unit::Identity, 3));
//! let mut first = None;
//! for _ in 0..10 {
//!     let hidden = cohort.hidden.forward(x.clone(), &gelu);
//!     let losses = squared_errors(cohort.output.forward(hidden, &identity), y.clone());
//!     first.get_or_insert(losses.clone().into_data());
//!     let gradients = GradientsParams::from_grads(losses.sum().backward(), &cohort);
//!     // Three learning rates, too.
//!     cohort = adam.step(&[1e-3, 3e-3, 1e-2], cohort, gradients);
//! }
//! let hidden = cohort.hidden.forward(x, &gelu);
//! let losses = squared_errors(cohort.output.forward(hidden, &identity), y).into_data();
//! assert!(losses.iter::<f32>().zip(first.unwrap().iter::<f32>()).all(|(last, first)| last < first));
//! let alone: Linear = cohort.output.slice(2);
//! assert_eq!(alone.weight.dims(), [8, 1]);
//! ```

mod adam;
mod clip;
pub(crate) mod composed;
mod linear;
mod losses;
mod ops;
mod records;
mod units;

pub use adam::CohortAdam;
pub use clip::clip_by_slice_norm;
pub use linear::CohortLinear;
pub use losses::{cross_entropies, squared_errors};
pub use ops::CohortOps;
pub use records::AdamMoments;
pub use units::{SliceDropout, SliceUnit, SliceUnits};
