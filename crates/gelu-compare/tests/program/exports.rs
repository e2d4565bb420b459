//! Tests of exports, read back by the real tools: Python's `tensorboard` and `mlflow`, of the interpreter that
//! `$PYTHON` names, or `python3`.

use super::processes::status;
use crate::{document, scripted};
use gelu_compare::testing::Sandbox;
use serde_json::Value;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn python() -> Command {
    Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()))
}

/// Returns whether Python has a module, and prints a message if it does not.
fn has(module: &str) -> bool {
    let status = python()
        .args(["-c", &format!("import importlib.util as u; exit(u.find_spec('{module}') is None)")])
        .stderr(Stdio::null())
        .status();
    let there = status.is_ok_and(|status| status.success());
    if !there {
        eprintln!("SKIPPED: Python has no {module} here (pip install {module})");
    }
    there
}

fn ask(script: &str, arguments: &[&str]) -> serde_json::Value {
    let output = python().arg("-c").arg(script).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Three epochs. The second has the lowest validation loss, which chooses the epoch that is reported.
const SCRIPT: &str = r#"echo '{"epoch": 1, "valid_loss": 0.7, "test_error": 0.31}'
echo '{"epoch": 2, "valid_loss": 0.3, "test_error": 0.1'$2'}'
echo '{"epoch": 3, "valid_loss": 0.4, "test_error": 0.2}'"#;

/// Returns the arguments for two runs of the script.
fn compared<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let compare = ["compare", "sh train.sh {activation} {seed} {learning_rate}", "--seeds", "1"];
    let axes = ["--compare", "activation=gelu,relu", "--set", "learning_rate=0.001"];
    let best = ["--metric", "test_error", "--best-epoch", "--select", "valid_loss"];
    [&compare[..], &axes, &best, more].concat()
}

/// Checks the values of each epoch: pairs of an epoch and a loss.
#[track_caller]
fn assert_losses(run: &Value, losses: &Value, near: impl Fn(f64, f64) -> bool) {
    let (epochs, losses) = (run["epochs"].as_array().unwrap(), losses.as_array().unwrap());
    assert_eq!((epochs.len(), losses.len()), (3, 3));
    for (epoch, loss) in epochs.iter().zip(losses) {
        assert_eq!(loss[0], epoch["epoch"]);
        let (found, expected) = (loss[1].as_f64().unwrap(), epoch["valid_loss"].as_f64().unwrap());
        assert!(near(found, expected), "{found} {expected}");
    }
}

/// Returns the error of a run in the epoch that it reports.
#[track_caller]
fn reported_error(run: &Value) -> f64 {
    assert_eq!(run["reported_epoch"], 2);
    run["epochs"][1]["test_error"].as_f64().unwrap()
}

/// Returns whether two numbers are the same in single precision, which TensorBoard stores.
fn same_in_f32(a: f64, b: f64) -> bool {
    a as f32 == b as f32
}

/// Prints every scalar and every hyperparameter of every run, as TensorBoard reads them.
const READ_EVENTS: &str = r"
import json, sys
from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer
from tensorboard.plugins.hparams import plugin_data_pb2
multiplexer = EventMultiplexer().AddRunsFromDirectory(sys.argv[1]).Reload()
found = {}
for run, tags in multiplexer.Runs().items():
    scalars = {tag: [[e.step, e.value] for e in multiplexer.Scalars(run, tag)] for tag in tags['scalars']}
    content = multiplexer.SummaryMetadata(run, '_hparams_/session_start_info').plugin_data.content
    data = plugin_data_pb2.HParamsPluginData.FromString(content)
    hparams = {k: v.string_value or v.number_value for k, v in data.session_start_info.hparams.items()}
    found[run] = {'scalars': scalars, 'hparams': hparams}
print(json.dumps(found))
";

#[test]
fn tensorboard_reads_what_is_exported_to_it() {
    if !has("tensorboard") {
        return;
    }
    let sandbox = scripted(SCRIPT);
    let document = document(&sandbox, &compared(&["--export", "tensorboard"]));
    let folder = sandbox.path("results/train/tensorboard");
    let found = ask(READ_EVENTS, &[folder.to_str().unwrap()]);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!((found.as_object().unwrap().len(), runs.len()), (2, 2));
    for run in runs {
        let name = run["folder"].as_str().unwrap().strip_prefix("runs/").unwrap();
        let found = &found[name];
        assert_eq!(found["hparams"]["activation"], run["activation"]);
        assert_eq!(found["hparams"]["learning_rate"], 1e-3);
        assert_losses(run, &found["scalars"]["loss/valid"], same_in_f32);
        let reported = &found["scalars"]["reported/test_error"][0];
        assert_eq!(reported[0], 2);
        assert!(same_in_f32(reported[1].as_f64().unwrap(), reported_error(run)));
    }
}

/// A server that stops with the test.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(sandbox: &Sandbox) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let store = sandbox.path("mlflow.db");
        let mut command = python();
        // MLflow starts further processes, which would survive when it is killed.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let process = command
            .args(["-m", "mlflow", "server", "--host", "127.0.0.1", "--workers", "1"])
            .args(["--port", &port.to_string()])
            .arg("--backend-store-uri")
            .arg(format!("sqlite:///{}", store.display()))
            .current_dir(sandbox.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { process, url: format!("http://127.0.0.1:{port}") };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(300), "mlflow does not come up");
            std::thread::sleep(Duration::from_millis(200));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if cfg!(unix) {
            let group = format!("-{}", self.process.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Prints every run that MLflow's own client finds.
const READ_RUNS: &str = r"
import json, sys
import mlflow
client = mlflow.MlflowClient(sys.argv[1])
experiment = client.get_experiment_by_name('train')
found = []
for run in client.search_runs([experiment.experiment_id]):
    history = client.get_metric_history(run.info.run_id, 'valid_loss')
    found.append({'name': run.info.run_name, 'status': run.info.status, 'params': run.data.params,
                  'metrics': run.data.metrics, 'valid_loss': [[m.step, m.value] for m in history]})
print(json.dumps(found))
";

#[test]
fn mlflow_has_every_run_once_however_often_it_is_exported() {
    if !has("mlflow") {
        return;
    }
    let sandbox = scripted(SCRIPT);
    let server = Server::start(&sandbox);
    let export = format!("mlflow={}", server.url);
    let document = document(&sandbox, &compared(&["--export", &export]));
    let again = sandbox.run(&["report", "results/train", "--export", &export]).success();
    assert!(again.contains("0 runs sent to MLflow") && again.contains("2 were there"), "{again}");
    let found = ask(READ_RUNS, &[&server.url]);
    let (found, runs) = (found.as_array().unwrap(), document["runs"].as_array().unwrap());
    assert_eq!((found.len(), runs.len()), (2, 2));
    for run in runs {
        let activation = run["activation"].as_str().unwrap();
        let mine = |found: &&Value| found["params"]["activation"] == activation;
        let found = found.iter().find(mine).unwrap();
        assert!(found["name"].as_str().unwrap().contains(activation), "{found}");
        assert_eq!(found["status"], "FINISHED");
        assert_eq!(found["params"]["learning_rate"], "0.001");
        assert_losses(run, &found["valid_loss"], |a, b| a == b);
        assert_eq!(found["metrics"]["reported/test_error"].as_f64(), Some(reported_error(run)));
    }
}

#[test]
fn export_that_fails_is_said_at_the_end_and_loses_nothing() {
    let sandbox = scripted(SCRIPT);
    fs::write(sandbox.path("file"), "not a folder").unwrap();
    for (out, export, expected) in [
        ("a", "mlflow=http://127.0.0.1:9", "MLflow at http://127.0.0.1:9 did not find"),
        ("b", "tensorboard=file/events", "cannot create the folder file/events"),
    ] {
        let outcome = sandbox.run(&compared(&["--out", out, "--plain", "--export", export]));
        let said = outcome.stdout();
        assert!(said.contains("Results in") && said.contains("gelu"), "{said}");
        outcome.refused(1, expected);
        assert!(sandbox.path(out).join("results.json").exists());
        for run in sandbox.runs(out) {
            assert!(status(&run).contains("finished"), "it is carried out all the same");
        }
    }
    sandbox.run(&compared(&["--export", "wandb"])).refused(2, "There are: tensorboard");
}
