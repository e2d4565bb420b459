//! A loop with faults for tests. Its axis `fault` chooses the fault.

use gelu_compare::{Program, Result, Run};
use std::time::Duration;

fn count(run: &mut Run) -> Result<()> {
    let fault: String = run.get("fault")?;
    let pause = Duration::from_millis(run.get("pause")?);
    for epoch in run.epochs(4) {
        std::thread::sleep(pause);
        let loss = match (fault.as_str(), epoch) {
            ("nan", 1) | ("late-nan", 3) => f64::NAN,
            ("infinite", 2) => f64::INFINITY,
            _ => 1.0 / epoch as f64,
        };
        let epoch = match (fault.as_str(), epoch) {
            ("skips", 2) => 3,
            ("repeats", 2) => 1,
            _ => epoch,
        };
        run.report(epoch, [("loss", loss)], |_| match fault.as_str() {
            "saves" => Err("no paper".into()),
            _ => Ok(()),
        })?;
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    Program::new("odd", count)
        .compare("fault", ["none", "other"])
        .set("pause", 0)
        .primary("loss")
        .main()
}
