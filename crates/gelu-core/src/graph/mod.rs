//! The operations as nodes of a graph, with one description for fusion, for remote devices and for
//! captured graphs.

mod execute;
mod op;
mod register;

pub(crate) use execute::execute;
pub(crate) use op::Op;
pub(crate) use register::register_operations;
