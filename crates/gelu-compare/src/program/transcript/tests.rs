use super::*;
use crate::runs::examples::{claim, die, folder};

fn text(run: &Path, session: u32, done: u64) -> String {
    let mut text = Vec::new();
    Sessions::copy_rest(run, session, done, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn what_is_printed_is_kept_whole_up_to_a_limit_and_then_without_its_middle() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let run = claim(&folder, &spec);
    let mut transcript = Transcript::begin(&run, 80).unwrap();
    assert!(!has_output(folder.path()), "nothing was printed yet");
    let lines: Vec<String> = (0..40).map(|line| format!("line {line:03}\n")).collect();
    lines[..8].iter().for_each(|line| transcript.write(line.as_bytes()));
    let whole = lines[..8].concat();
    assert_eq!(text(folder.path(), 1, 0), whole);
    assert_eq!(text(folder.path(), 1, 20), whole[20..]);
    transcript.write(lines[8..].concat().as_bytes());
    let running = text(folder.path(), 1, 0);
    drop(transcript);
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name.starts_with("output"));
        names
    };
    assert_eq!(names(), ["output-0001.txt.gz"]);
    let over = text(folder.path(), 1, 0);
    for kept in [&running, &over] {
        assert!(kept.starts_with(&lines.concat()[..40]), "{kept}");
        assert!(kept.ends_with(&lines.concat()[320..]), "{kept}");
        assert!(kept.contains("[… 280 bytes are cut out of the middle"), "{kept}");
    }
    assert!(over.contains("of which 80 bytes are kept; --keep-output"), "{over}");
    // A reader that has read this far reads only the rest.
    assert_eq!(text(folder.path(), 1, 350), lines.concat()[350..]);
}

#[test]
fn what_a_killed_session_has_printed_is_there_beside_the_next_ones() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let run = claim(&folder, &spec);
    let mut killed = Transcript::begin(&run, LIMIT).unwrap();
    killed.write(b"one\n");
    std::mem::forget(killed);
    die(run);
    let run = claim(&folder, &spec);
    let session = run.lease().generation();
    let mut next = Transcript::begin(&run, LIMIT).unwrap();
    assert!(folder.file("output-0001.txt.gz").is_file());
    next.write(b"two\n");
    assert_eq!(Sessions::of(folder.path()), [1, session]);
    let texts = Sessions::of(folder.path()).into_iter().map(|of| text(folder.path(), of, 0));
    assert_eq!(texts.collect::<String>(), "one\ntwo\n");
}
