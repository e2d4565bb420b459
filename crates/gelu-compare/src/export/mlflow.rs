//! Exports runs to MLflow through its REST interface (mlflow.org/docs/latest/rest-api.html).
//!
//! A recipe becomes an MLflow experiment, and a run becomes an MLflow run with the tags `gelu.comparison` (the
//! folder) and `gelu.run` (the run's folder in it). A finished run that is already on the server is left unchanged;
//! an unfinished one is replaced.

use super::names::clean;
use super::reported::reported;
use crate::measure::EpochMetrics;
use crate::names::message_lines;
use crate::runs::{RunSnapshot, RunStatus, Snapshot};
use crate::setting::{Role, Value as Setting};
use crate::{Error, Result};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The maximum number of metrics that the server takes in one request.
const METRICS_A_REQUEST: usize = 1_000;

/// The number of consecutive refused runs after which the export gives up.
const GIVEN_UP: usize = 3;

/// The number of runs that were sent, and of those that the server already had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) new: usize,
    pub(super) known: usize,
}

/// Sends every run that has finished an epoch. A refused run does not prevent the next ones from being sent.
pub(super) fn send(snapshot: &Snapshot, comparison: &Path, url: &str) -> Result<Sent> {
    let server = Server::new(url);
    let experiment = server.experiment(&snapshot.design.name)?;
    let comparison = std::path::absolute(comparison).map_err(Error::io("find", comparison))?;
    let comparison = comparison.display().to_string();
    let (mut sent, mut refused, mut after_one_another) = (Sent::default(), Vec::new(), 0);
    for run in snapshot.runs.iter().filter(|run| !run.epochs.is_empty()) {
        let known = server.forget_unfinished(&experiment, &comparison, run);
        let known = known.and_then(|known| match known {
            true => Ok(true),
            false => server.send(&experiment, &comparison, snapshot, run).map(|()| false),
        });
        after_one_another = if known.is_ok() { 0 } else { after_one_another + 1 };
        match known {
            Ok(true) => sent.known += 1,
            Ok(false) => sent.new += 1,
            Err(error) => refused.push(format!("{}: {error}", run.name)),
        }
        if after_one_another == GIVEN_UP {
            break;
        }
    }
    match refused.first() {
        None => Ok(sent),
        Some(first) => Err(Error::Failed(format!(
            "{} runs were sent, {} were there, and {} were refused, the first: {first}",
            sent.new,
            sent.known,
            refused.len()
        ))),
    }
}

struct Server {
    agent: ureq::Agent,
    url: String,
    token: Option<String>,
}

impl Server {
    fn new(url: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(60)))
            .timeout_connect(Some(Duration::from_secs(10)))
            // The body of a refusal says what was wrong.
            .http_status_as_error(false)
            .build()
            .into();
        // MLflow's own clients read the same variable.
        let token = std::env::var("MLFLOW_TRACKING_TOKEN").ok();
        Self { agent, url: url.to_owned(), token }
    }

    fn failed(&self, what: &str, reason: impl std::fmt::Display) -> Error {
        Error::Failed(format!("MLflow at {} did not {what}: {reason}", self.url))
    }

    /// Sends a request. Returns the status and the answer.
    fn ask(&self, what: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
        let url = format!("{}/api/2.0/mlflow/{path}", self.url);
        let mut request = self.agent.post(url).header("Content-Type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut answer =
            request.send(body.to_string()).map_err(|error| self.failed(what, error))?;
        let text = answer.body_mut().read_to_string().map_err(|error| self.failed(what, error))?;
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok((answer.status().as_u16(), value))
    }

    /// Sends a request that has to succeed. Returns the answer.
    fn demand(&self, what: &str, path: &str, body: &Value) -> Result<Value> {
        match self.ask(what, path, body)? {
            (200, value) => Ok(value),
            (status, value) => {
                let said = message_lines(value["message"].as_str().unwrap_or("no message"));
                Err(self.failed(what, format!("{status}, {said}")))
            }
        }
    }

    fn text(&self, what: &str, value: &Value) -> Result<String> {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| self.failed(what, "its answer is not that of an MLflow server"))
    }

    /// Returns the id of the experiment `name`, which is created if it is new.
    fn experiment(&self, name: &str) -> Result<String> {
        let what = "find the experiment";
        // A search is a POST request, unlike a look-up by name.
        let filter = format!("name = '{}'", name.replace('\'', ""));
        let found = self.demand(
            what,
            "experiments/search",
            &json!({ "filter": filter, "max_results": 1, "view_type": "ACTIVE_ONLY" }),
        )?;
        match &found["experiments"][0]["experiment_id"] {
            Value::String(id) => Ok(id.clone()),
            _ => {
                let what = "make the experiment";
                let made = self.demand(what, "experiments/create", &json!({ "name": name }))?;
                self.text(what, &made["experiment_id"])
            }
        }
    }

    /// Returns whether the finished run is already on the server. Deletes what earlier exports left of the run,
    /// either from before it was finished or because the export broke off.
    fn forget_unfinished(
        &self,
        experiment: &str,
        comparison: &str,
        run: &RunSnapshot,
    ) -> Result<bool> {
        let quoted = |text: &str| text.replace('\'', "");
        let filter = format!(
            "tags.`gelu.run` = '{}' and tags.`gelu.comparison` = '{}'",
            quoted(&run.folder),
            quoted(comparison)
        );
        let found = self.demand(
            "search for a run",
            "runs/search",
            &json!({ "experiment_ids": [experiment], "filter": filter, "max_results": 100 }),
        )?;
        let mut complete = false;
        for known in found["runs"].as_array().into_iter().flatten() {
            let finished = known["info"]["status"] == "FINISHED";
            if finished && !complete && run.status.is_complete() {
                complete = true;
                continue;
            }
            let id = known["info"]["run_id"].clone();
            self.demand("delete a run", "runs/delete", &json!({ "run_id": id }))?;
        }
        Ok(complete)
    }

    fn send(
        &self,
        experiment: &str,
        comparison: &str,
        snapshot: &Snapshot,
        run: &RunSnapshot,
    ) -> Result<()> {
        let ended = milliseconds(SystemTime::now());
        let began = ended - (run.seconds * 1e3) as i64;
        let tag = |key: &str, value: &str| json!({ "key": key, "value": value });
        let made = self.demand(
            "make a run",
            "runs/create",
            &json!({
                "experiment_id": experiment,
                "run_name": run.name,
                "start_time": began,
                "tags": [
                    tag("gelu.run", &run.folder),
                    tag("gelu.comparison", &comparison.replace('\'', "")),
                    tag("gelu.title", &snapshot.design.title),
                    tag("gelu.status", &run.status.to_string()),
                    tag("gelu.synthetic_data", &snapshot.synthetic.to_string()),
                ],
            }),
        )?;
        let id = self.text("make a run", &made["run"]["info"]["run_id"])?;
        self.demand(
            "take the settings",
            "runs/log-batch",
            &json!({ "run_id": id, "params": settings(snapshot, run) }),
        )?;
        let an_epoch = run.seconds * 1e3 / run.epochs.len() as f64;
        let at = |epoch: &EpochMetrics| began + (an_epoch * epoch.epoch as f64) as i64;
        let names = clean(snapshot.columns().into_iter());
        let of_epoch = |epoch: &EpochMetrics| {
            entries(
                epoch,
                epoch.measured().map(|(name, value)| (names[name].clone(), value)),
                at(epoch),
            )
        };
        let mut metrics: Vec<Value> = run.epochs.iter().flat_map(of_epoch).collect();
        if let Some((epoch, reported)) = reported(snapshot, run) {
            let named = |(name, value): (&str, f64)| (format!("reported/{}", names[name]), value);
            metrics.extend(entries(epoch, reported.into_iter().map(named), at(epoch)));
        }
        for part in metrics.chunks(METRICS_A_REQUEST) {
            let body = json!({ "run_id": id, "metrics": part });
            self.demand("take the measures", "runs/log-batch", &body)?;
        }
        let status = match run.status {
            RunStatus::Finished | RunStatus::Diverged { .. } => "FINISHED",
            RunStatus::Failed { .. } => "FAILED",
            _ => "RUNNING",
        };
        let body = json!({ "run_id": id, "status": status, "end_time": ended });
        self.demand("end a run", "runs/update", &body).map(|_| ())
    }
}

fn settings(snapshot: &Snapshot, run: &RunSnapshot) -> Vec<Value> {
    let key = &run.key;
    let mut all: Vec<(String, String)> = Vec::new();
    for axis in &snapshot.design.axes {
        let Some(value) = key.setting.get(&axis.name) else { continue };
        let column = axis.column().to_owned();
        match (axis.role, value) {
            (Role::Compared, Setting::Text(text)) => {
                all.push((format!("{column}_definition"), text.clone()));
                all.push((column, axis.label(value)));
            }
            _ => all.push((column, value.to_string())),
        }
    }
    let others = [
        ("seed", key.seed.to_string()),
        ("stage", key.stage.word().unwrap_or("only").to_owned()),
        ("data", snapshot.data.clone()),
        ("device", snapshot.device.clone()),
        ("epochs", run.epochs_planned.to_string()),
    ];
    all.extend(others.map(|(key, value)| (key.to_owned(), value)));
    let known: Vec<_> = all.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    let names = clean(known.iter().map(|(key, _)| key.as_str()));
    known.iter().map(|(key, value)| json!({ "key": names[key.as_str()], "value": value })).collect()
}

/// Returns the measures of an epoch in the form that the server takes.
fn entries(
    epoch: &EpochMetrics,
    measures: impl Iterator<Item = (String, f64)>,
    timestamp: i64,
) -> Vec<Value> {
    let one = |(key, value): (String, f64)| json!({ "key": key, "value": value, "timestamp": timestamp, "step": epoch.epoch });
    measures.map(one).collect()
}

fn milliseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn server_that_is_down_is_named() {
        let error = send(&example(), Path::new("."), "http://127.0.0.1:9").unwrap_err().to_string();
        assert!(error.contains("MLflow at http://127.0.0.1:9 did not find"), "{error}");
    }

    #[test]
    fn settings_are_named_by_their_columns_and_definitions() {
        let snapshot = example();
        let all = settings(&snapshot, &snapshot.runs[1]);
        let value = |key: &str| {
            let found = all.iter().find(|setting| setting["key"] == key);
            found.unwrap_or_else(|| panic!("{key}: {all:?}"))["value"].as_str().unwrap().to_owned()
        };
        for (key, expected) in [
            ("activation", "ReLU"),
            ("activation_definition", "relu"),
            ("learning_rate", "0.001"),
            ("dropout", "0"),
            ("seed", "1"),
            ("stage", "only"),
            ("data", "digits"),
            ("device", "flex"),
            ("epochs", "12"),
        ] {
            assert_eq!(value(key), expected, "{key}");
        }
        assert_eq!(all.len(), 9);
    }
}
