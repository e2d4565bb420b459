//! A loop of one's own: anything that reports numbers by epoch and can go on from its last one.

use gelu_compare::{Program, Result, Run};

fn descend(run: &mut Run) -> Result<()> {
    let step: f64 = run.get("step")?;
    let mut x: f64 = run
        .restore(|folder| Ok(std::fs::read_to_string(folder.join("x"))?.parse()?))?
        .unwrap_or(run.seed() as f64);
    for epoch in run.epochs(20) {
        x -= step * (4.0 * x.powi(3) - 2.0 * x + 0.1 * (run.seed() as f64).sin());
        run.report(epoch, [("height", x.powi(4) - x * x)], |folder| {
            Ok(std::fs::write(folder.join("x"), x.to_string())?)
        })?;
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    Program::new("descent", descend).compare("step", [0.01, 0.02, 0.05]).primary("height").main()
}
