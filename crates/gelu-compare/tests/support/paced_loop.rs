//! A loop for tests that kill, freeze and interrupt its processes. All its epochs matter to its results: one that is
//! lost or repeated changes every later one.

use gelu_compare::{Program, Run};
use std::error::Error;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

fn walk(run: &mut Run) -> Result<(), Box<dyn Error + Send + Sync>> {
    let rate: f64 = run.get("rate")?;
    let pause = Duration::from_millis(run.get("pause")?);
    // Some tests need a checkpoint of a certain size.
    let ballast = vec![b'.'; run.get("ballast")?];
    let begin = 1.0 / (run.seed() as f64 + 2.0);
    let saved = run.restore(|folder| Ok(fs::read_to_string(folder.join("x"))?.parse()?))?;
    let mut x: f64 = saved.unwrap_or(begin);
    let epochs = run.get("epochs")?;
    for epoch in run.epochs(epochs) {
        sleep(pause);
        if is_held(epoch) {
            fs::write(format!("held-{rate}-{}", run.seed()), epoch.to_string())?;
        }
        while is_held(epoch) {
            sleep(Duration::from_millis(5));
        }
        // The logistic map, which is chaotic at rates of 3.6 to 4.
        x *= rate * (1.0 - x);
        let measures = [("train_loss", x), ("valid_loss", x / 2.0), ("test_error", x / 4.0)];
        run.report(epoch, measures, |folder| {
            fs::write(folder.join("x"), x.to_string())?;
            Ok(fs::write(folder.join("ballast"), &ballast)?)
        })?;
    }
    Ok(())
}

/// Returns whether the file `hold` in the working folder holds a run in this epoch: it contains the first epoch that
/// does not end while the file exists. A held run writes its epoch to `held-RATE-SEED`.
fn is_held(epoch: usize) -> bool {
    let first = fs::read_to_string("hold").ok().and_then(|text| text.trim().parse().ok());
    first.is_some_and(|first: usize| epoch >= first)
}

fn main() -> std::process::ExitCode {
    Program::new("paced", walk)
        .compare("rate", [3.7, 3.8])
        .set("epochs", 10)
        .set("pause", 0)
        .set("ballast", 0)
        .primary("valid_loss")
        .main()
}
