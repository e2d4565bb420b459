use crate::environment::Environment;
use crate::runs::{ComparisonSnapshot, Provenance};
use serde::Serialize;

/// Where numbers come from: what was the same for any number of sessions, in words.
#[derive(Serialize)]
pub(super) struct Session {
    pairs: Vec<(&'static str, String)>,
}

/// One entry for every program, build and machine that worked on the runs, in the order in which they
/// began.
pub(super) fn sessions(snapshot: &ComparisonSnapshot) -> Vec<Session> {
    let mut all: Vec<&Provenance> = snapshot.runs.iter().flat_map(|run| &run.provenance).collect();
    // Times are written so that their order is that of their text.
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
    let Environment { program, burn, features, device, processor, .. } = environment;
    let commit = environment.commit_in_words().map_or_else(String::new, |said| format!(", {said}"));
    let ended = sessions.iter().filter_map(|session| session.ended.as_deref()).max();
    let died = sessions.iter().filter(|session| session.has_died()).count();
    let mut count = format!("{} of single runs", sessions.len());
    if died > 0 {
        count.push_str(&format!(", {died} of which died and were taken up again"));
    }
    Session {
        pairs: vec![
            ("program", format!("gelu {program}{commit}")),
            ("Burn", format!("{burn}, features {}", features.join(", "))),
            ("device", device.clone()),
            ("processor", format!("{processor}, {}", environment.instructions)),
            ("threads a run", environment.threads.to_string()),
            ("host", environment.host.clone()),
            ("began", sessions[0].started.clone()),
            ("ended", ended.unwrap_or("not yet").to_owned()),
            ("sessions", count),
        ],
    }
}
