use crate::runs::{Environment, Provenance, Snapshot};
use serde::Serialize;
use serde_json::Value;

/// The environment of one or more sessions, in words.
#[derive(Serialize)]
pub(super) struct Session {
    pairs: Vec<(String, String)>,
}

/// Returns one entry for every program, build and machine that worked on the runs, ordered by their starts.
pub(super) fn sessions(snapshot: &Snapshot) -> Vec<Session> {
    let mut all: Vec<&Provenance> = snapshot.runs.iter().flat_map(|run| &run.provenance).collect();
    // The times' text order is their time order.
    all.sort_by(|a, b| a.started.cmp(&b.started));
    let mut environments: Vec<(&Environment, Vec<&Provenance>)> = Vec::new();
    for session in all {
        let same = environments.iter_mut().find(|(known, _)| **known == session.environment);
        match same {
            Some((_, sessions)) => sessions.push(session),
            None => environments.push((&session.environment, vec![session])),
        }
    }
    environments.iter().map(|(environment, sessions)| described(environment, sessions)).collect()
}

fn described(environment: &Environment, sessions: &[&Provenance]) -> Session {
    let ended = sessions.iter().filter_map(|session| session.ended.as_deref()).max();
    let died = sessions.iter().filter(|session| session.has_died()).count();
    let mut count = format!("{} of single runs", sessions.len());
    if died > 0 {
        count.push_str(&format!(", {died} of which died and were taken up again"));
    }
    let mut pairs = described_environment(environment);
    pairs.extend([
        ("began".to_owned(), sessions[0].started.clone()),
        ("ended".to_owned(), ended.unwrap_or("not yet").to_owned()),
        ("sessions".to_owned(), count),
    ]);
    Session { pairs }
}

/// Returns an environment in words. Values with unknown names stay as they are.
fn described_environment(environment: &Environment) -> Vec<(String, String)> {
    let text = |name: &str| environment.0.get(name).map(shown);
    let said = |parts: &[Option<String>]| -> String {
        parts.iter().flatten().cloned().collect::<Vec<_>>().join(", ")
    };
    let features = text("features").map(|features| format!("features {features}"));
    let program =
        text("program").map(|program| match program.starts_with(|c: char| c.is_numeric()) {
            // Older records contain only the version.
            true => format!("gelu {program}"),
            false => program,
        });
    let known = [
        ("program", said(&[program, environment.commit_in_words()])),
        ("Burn", said(&[text("burn"), features])),
        ("device", said(&[text("device")])),
        ("processor", said(&[text("processor"), text("instructions")])),
        ("threads a run", said(&[text("threads")])),
        ("host", said(&[text("host")])),
    ];
    const KNOWN: [&str; 9] = [
        "program",
        "commit",
        "burn",
        "features",
        "device",
        "processor",
        "instructions",
        "threads",
        "host",
    ];
    let others = environment.0.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str()));
    let known = known.into_iter().map(|(name, said)| (name.to_owned(), said));
    let others = others.map(|(name, value)| (name.clone(), shown(value)));
    known.chain(others).filter(|(_, said)| !said.is_empty()).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
