use super::*;
use crate::comparison::FindingInterval;

fn side(program: &str) -> Side {
    let (command, program) = (format!("./{program}"), program.to_owned());
    Side { command, program, depends: None, mean: None }
}

fn ledger(of: &[(&str, &str, Outcome)]) -> Ledger {
    let mut ledger = Ledger::new(&crate::program::example());
    for (a, b, verdict) in of {
        let (number, j) = (ledger.next_number(), ledger.next_j());
        let mut entry = Entry::new(number, j, None, [side(a), side(b)]);
        (entry.verdict, entry.pairs) = (*verdict, 3);
        ledger.entries.push(entry);
    }
    ledger
}

#[test]
fn a_kept_change_is_the_next_incumbent_and_begins_a_budget() {
    use Outcome::{Failed, Futile, Kept, Open, Undecided};
    let mut session = ledger(&[
        ("a", "b", Futile),
        ("a", "c", Kept),
        ("c", "d", Undecided),
        ("c", "e", Failed),
        ("c", "f", Open),
    ]);
    let js: Vec<u64> = session.entries.iter().map(|entry| entry.j).collect();
    assert_eq!((js, session.next_j()), (vec![1, 2, 1, 2, 3], 4));
    assert!(session.incumbent().unwrap().is(&side("c")));
    let of_incumbent = session.of_incumbent();
    assert_eq!(of_incumbent, [(5, "./c"), (4, "./c"), (3, "./c"), (2, "./c")]);
    // A judgement that failed before the first pair uses no share of the budget.
    let open = session.take(5).unwrap();
    session.entries[3].pairs = 0;
    assert_eq!((open.j, session.next_j(), session.next_number()), (3, 2, 5));
    assert!(session.known([&side("a"), &side("b")]).is_some());
    assert!(session.known([&side("c"), &side("b")]).is_none());
}

#[test]
fn an_incumbent_that_was_put_back_by_hand_has_no_runs_of_before() {
    use Outcome::{Futile, Kept};
    let session = ledger(&[("a", "b", Kept), ("b", "c", Futile), ("a", "d", Futile)]);
    assert_eq!(session.of_incumbent(), [(3, "./a")]);
    assert_eq!(session.next_j(), 3, "no budget begins by hand");
}

#[test]
fn it_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("research.toml");
    assert_eq!(Ledger::read(&file).unwrap(), None);
    let mut session = ledger(&[("a", "b", Outcome::Kept), ("b", "c", Outcome::Futile)]);
    session.entries[0].effect = Some(-0.1 - 0.2);
    session.entries[0].interval = Some(FindingInterval::of([f64::NEG_INFINITY, 0.1], 0.95));
    session.entries[1].changed = vec!["x".to_owned()];
    std::fs::write(&file, session.to_toml()).unwrap();
    assert_eq!(Ledger::read(&file).unwrap(), Some(session.clone()));
    session.entries[1].j = 0;
    for (text, problem) in [
        (session.to_toml(), "judgement 2 is judgement 0 of its budget"),
        ("x = 1".to_owned(), "is no ledger of a session"),
        ("version = 2".to_owned(), "newer version"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = Ledger::read(&file).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}
