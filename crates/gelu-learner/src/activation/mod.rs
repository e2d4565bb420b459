//! Activations by name: built-in activations, user-defined formulas, and functions that a program registers
//! ([`register`]).
//!
//! Examples of formulas: `mine=x*tanh(ln(1+exp(x)))`; with a learned constant, `mine=x*sigmoid({b=1}*x)`; of a gated
//! unit, `mine(a,b)=a*sin(b)`.

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
