use super::command::kept;
use crate::files::steps::steps;
use crate::program::orphan::{self, Survivors};
use crate::runs::examples::{claim, die, folder};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn the_folder_of_a_program_is_the_same_unless_another_host_may_still_write_into_it() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let run = claim(&folder, &spec);
    let first = kept(&run, &orphan::end(&run).unwrap()).unwrap();
    assert_eq!(first, folder.file("kept"));
    fs::create_dir(first.join("deep")).unwrap();
    fs::write(first.join("deep/state"), "1").unwrap();
    std::os::unix::fs::symlink("deep/state", first.join("latest")).unwrap();
    // The program was never started, but the next holder cannot know that.
    orphan::announce(&run).unwrap();
    let note = folder.file("process-0001.json");
    let text = fs::read_to_string(&note).unwrap();
    die(run);
    for host in ["elsewhere", ""] {
        fs::write(&note, text.replace("\"host\":\"", &format!("\"host\":\"{host}"))).unwrap();
        let run = claim(&folder, &spec);
        assert!(matches!(orphan::end(&run).unwrap(), Survivors::Program));
        die(run);
    }
    let run = claim(&folder, &spec);
    let mut second = first.clone();
    let steps = steps(|| second = kept(&run, &Survivors::Program).unwrap());
    let place = |wanted| steps.iter().position(|step| step == wanted).unwrap();
    assert!(place("sync state") < place("rename kept-0004"), "{steps:?}");
    assert_eq!(second, folder.file("kept-0004"));
    assert!(fs::write(first.join("deep/state"), "of the old program").is_err());
    assert_eq!(fs::read_to_string(second.join("latest")).unwrap(), "1");
    orphan::forget_all(&run).unwrap();
    // A program that was started in that folder ends before its note is deleted.
    orphan::announce(&run).unwrap();
    orphan::forget(&run);
    die(run);
    let run = claim(&folder, &spec);
    let left = orphan::end(&run).unwrap();
    assert!(matches!(left, Survivors::Nothing));
    assert_eq!(kept(&run, &left).unwrap(), second);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_worker_left_is_ended_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let kept = folder.file("kept");
    // The first process has ended, as it does when its worker ends.
    let start = |kept: &std::path::Path| {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & echo $!"]).env("GELU_RUN", kept).process_group(0);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let (leader, mut output) = (child.id(), child.wait_with_output_line());
        output.retain(|c| c.is_ascii_digit());
        (leader, output)
    };
    let lives = |process: &str| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let (leader, program) = start(&kept);
    let (stranger_leader, stranger) = start(&parent.path().join("another-run/kept"));
    let run = claim(&folder, &spec);
    orphan::note(&run, stranger_leader).unwrap();
    assert!(matches!(orphan::end(&run).unwrap(), Survivors::Nothing));
    assert!(lives(&stranger), "its group's number was given to another");
    orphan::note(&run, leader).unwrap();
    assert!(lives(&program));
    assert!(matches!(orphan::end(&run).unwrap(), Survivors::Nothing));
    let until = Instant::now() + Duration::from_secs(60);
    while lives(&program) {
        assert!(Instant::now() < until, "it goes on");
    }
    assert!(lives(&stranger));
    assert!(Command::new("kill").arg(&stranger).status().unwrap().success());
}

/// Returns the first line of a process's output, after the process has ended.
trait OutputLine {
    fn wait_with_output_line(self) -> String;
}

impl OutputLine for std::process::Child {
    fn wait_with_output_line(mut self) -> String {
        use std::io::{BufRead, BufReader};
        let mut line = String::new();
        let output = self.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it prints a line");
        self.wait().expect("it ends");
        line
    }
}
