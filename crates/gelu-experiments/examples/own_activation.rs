//! Your own activations in the whole program: `compare`, `report`, dashboard, figures, verdicts.
//!
//! ```text
//! cargo run --release --example own_activation -- \
//!     compare --activations gelu,snake
//! ```

use gelu_experiments::cli::Program;

fn main() -> std::process::ExitCode {
    Program::new()
        // Ziyin et al. 2020: x + sin²(x). Burn differentiates it.
        .activation("snake", |x| x.clone() + x.sin().powi_scalar(2))
        .run()
}
