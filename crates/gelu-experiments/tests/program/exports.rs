//! Tests of exports, read back by the real tools: Python's `tensorboard` and `mlflow`, of the interpreter that
//! `$PYTHON` names, or `python3`.

use crate::support::document::Document;
use crate::support::{Sandbox, small};
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

/// Writes a recipe of the built-in digits that reports the epoch with the lowest validation error.
fn reporting_the_best(sandbox: &Sandbox) -> &'static str {
    let recipe = include_str!("../../recipes/digits.toml");
    let best = "selection = \"valid-error\"\nreported = \"best-epoch\"";
    let changed = recipe.replace("selection = \"valid-error\"", best);
    assert_ne!(changed, recipe);
    fs::write(sandbox.path("best.toml"), changed).unwrap();
    "best.toml"
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
    let sandbox = Sandbox::new();
    let more = ["--json", "--export", "tensorboard", "--recipe", reporting_the_best(&sandbox)];
    let arguments = small("gelu,mine=x*2", "3", &more);
    let document: Document = serde_json::from_str(&sandbox.run(&arguments).success()).unwrap();
    let folder = sandbox.path("results/digits/tensorboard");
    let found = ask(READ_EVENTS, &[folder.to_str().unwrap()]);
    let runs = sandbox.runs("results/digits");
    assert_eq!(found.as_object().unwrap().len(), runs.len());
    for (run, path) in document.runs.iter().zip(&runs) {
        let found = &found[path.file_name().unwrap().to_str().unwrap()];
        let label = if run.activation == "gelu" { "GELU" } else { "mine" };
        assert_eq!(found["hparams"]["activation"], label);
        assert_eq!(found["hparams"]["learning_rate"], 1e-3);
        let losses = found["scalars"]["loss/valid"].as_array().unwrap();
        assert_eq!(losses.len(), 3);
        for (epoch, loss) in run.epochs.iter().zip(losses) {
            assert_eq!(loss[0], epoch.epoch);
            let expected = epoch.valid_loss.unwrap() as f32;
            assert_eq!(loss[1].as_f64().unwrap() as f32, expected);
        }
        let counts = &run.epochs[run.reported_epoch.unwrap() - 1];
        let reported = &found["scalars"]["reported/test_error"][0];
        assert_eq!(reported[0], counts.epoch);
        assert_eq!(reported[1].as_f64().unwrap() as f32, counts.test_error.unwrap() as f32);
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
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(300), "mlflow does not come up");
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
experiment = client.get_experiment_by_name('digits')
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
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path(".")).unwrap();
    let server = Server::start(&sandbox);
    let export = format!("mlflow={}", server.url);
    let more = ["--json", "--export", &export, "--recipe", reporting_the_best(&sandbox)];
    let arguments = small("gelu,relu", "3", &more);
    let document: Document = serde_json::from_str(&sandbox.run(&arguments).success()).unwrap();
    let again = sandbox.run(&["report", "results/digits", "--export", &export]).success();
    assert!(again.contains("0 runs sent to MLflow") && again.contains("2 were there"), "{again}");
    let found = ask(READ_RUNS, &[&server.url]);
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 2);
    for run in &document.runs {
        let mine = |found: &&serde_json::Value| {
            found["name"].as_str().unwrap().starts_with(&run.activation)
        };
        let found = found.iter().find(mine).unwrap();
        assert_eq!(found["status"], "FINISHED");
        assert_eq!(found["params"]["learning_rate"], "0.001");
        let losses = found["valid_loss"].as_array().unwrap();
        assert_eq!(losses.len(), 3);
        for (epoch, loss) in run.epochs.iter().zip(losses) {
            assert_eq!(loss[0], epoch.epoch);
            assert_eq!(loss[1].as_f64(), epoch.valid_loss);
        }
        let counts = &run.epochs[run.reported_epoch.unwrap() - 1];
        assert_eq!(found["metrics"]["reported/test_error"].as_f64(), counts.test_error);
    }
}

#[test]
fn export_that_fails_is_said_at_the_end_and_loses_nothing() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("file"), "not a folder").unwrap();
    for (out, export, expected) in [
        ("a", "mlflow=http://127.0.0.1:9", "MLflow at http://127.0.0.1:9 did not find"),
        ("b", "tensorboard=file/events", "cannot create the folder file/events"),
    ] {
        let arguments = small("gelu", "1", &["--out", out, "--plain", "--export", export]);
        let outcome = sandbox.run(&arguments);
        let said = outcome.stdout();
        assert!(said.contains("Results in") && said.contains("GELU"), "{said}");
        outcome.refused(1, expected);
        assert!(sandbox.path(out).join("results.json").exists());
        assert!(sandbox.runs(out)[0].join("model.bpk").exists(), "it is trained all the same");
    }
    sandbox.run(&small("gelu", "1", &["--export", "wandb"])).refused(2, "There are: tensorboard");
}
