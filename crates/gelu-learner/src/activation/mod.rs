//! Activations by name: the built-in ones, formulas of one's own (`mine=x*tanh(ln(1+exp(x)))`, with
//! constants that are learned `mine=x*sigmoid({b=1}*x)`, of gated units `mine(a,b)=a*sin(b)`), and functions
//! that a program registers ([`register`]).

mod evaluate;
mod expression;
mod formula;
mod grammar;
mod list;
mod named;
mod names;
mod parse;
mod problem;
mod registry;
mod target;

pub use expression::{Arguments, Binary, Expression, Unary};
pub use formula::Formula;
pub use list::{ActivationList, listed};
pub use named::{NamedActivation, Nonlinearity};
pub use registry::register;
pub use target::TargetFormula;
