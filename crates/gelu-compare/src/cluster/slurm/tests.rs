// Slurm exists only on Unix.
#![cfg(unix)]

use super::*;

fn job() -> SlurmJob {
    SlurmJob {
        name: "digits".to_owned(),
        tool: "gelu".to_owned(),
        folder: "/data/it's mine/results".into(),
        program: "/opt/gelu".into(),
        workers: 4,
        arguments: ["--device", "cuda:0", "--data", "/data/mnist"].map(OsString::from).to_vec(),
        cpus: 2,
        time: Some("1:00:00".parse().unwrap()),
        memory: Some("4G".to_owned()),
        gpus: Some("a100:1".to_owned()),
        partition: None,
        account: None,
        notice: 90,
        grace: 0,
    }
}

#[test]
fn what_was_asked_for_is_in_the_script() {
    let script = job().script().unwrap();
    for line in [
        "#SBATCH --job-name=gelu-digits",
        "#SBATCH --array=1-4",
        "#SBATCH --time=1:00:00",
        "#SBATCH --gpus-per-task=a100:1",
        "#SBATCH --requeue",
        "#SBATCH --signal=B:USR1@90",
        "#SBATCH --output=\"/data/it's mine/results/slurm/%A_%a.log\"",
        r"worker=(/opt/gelu work '/data/it'\''s mine/results' --device cuda:0 --data /data/mnist)",
        "patience=80",
    ] {
        assert!(script.lines().any(|l| l == line), "{line}:\n{script}");
    }
    assert!(!script.contains("--partition"), "{script}");
}

#[test]
fn no_name_changes_another_part_of_the_script() {
    let mut job = job();
    job.folder = "/data/100% WORKER $HOME `x` #1/results".into();
    job.partition = Some("WORKER".to_owned());
    let script = job.script().unwrap();
    for line in [
        "#SBATCH --partition=WORKER",
        "#SBATCH --output=\"/data/100%% WORKER $HOME `x` #1/results/slurm/%A_%a.log\"",
        "worker=(/opt/gelu work '/data/100% WORKER $HOME `x` #1/results' --device cuda:0 --data \
         /data/mnist)",
    ] {
        assert!(script.lines().any(|l| l == line), "{line}:\n{script}");
    }
}

#[test]
fn nothing_can_be_smuggled_into_the_script() {
    let refused = |change: fn(&mut SlurmJob)| {
        let mut job = job();
        change(&mut job);
        let error = job.script().unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    };
    let partition = |job: &mut SlurmJob| job.partition = Some("main\ntouch evil".to_owned());
    assert!(refused(partition).contains("partition"), "{}", refused(partition));
    for value in ["a b", "a\"b", "a'b", "$HOME", "a\\b", ""] {
        let mut job = job();
        job.account = Some(value.to_owned());
        assert!(job.script().unwrap_err().to_string().contains("--account"), "{value}");
    }
    assert!(refused(|job| job.folder = "/data/\"x".into()).contains("quotes"));
    assert!(refused(|job| job.folder = "/data/a\\b".into()).contains("backslashes"));
    assert!(refused(|job| job.folder = "/data/a\nb".into()).contains("control"));
}

#[test]
fn a_time_limit_that_leaves_no_time_before_the_notice_is_refused() {
    let mut job = job();
    (job.time, job.notice) = (Some("2".parse().unwrap()), 60);
    let error = job.script().unwrap_err().to_string();
    assert!(error.contains("--time 2") && error.contains("60 seconds"), "{error}");
    job.notice = 59;
    assert!(job.script().is_ok());
}

/// Runs the script with a worker and a `scontrol` that record how they are called.
#[cfg(unix)]
mod script {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    /// A running job on a machine without Slurm.
    struct Node {
        folder: tempfile::TempDir,
        script: Child,
    }

    impl Node {
        /// Starts the script with the worker program `worker`. The folder has the most difficult name that a script
        /// can hold.
        fn start(worker: &str, notice: u16) -> Self {
            let parent = tempfile::tempdir().unwrap();
            let hostile = parent.path().join("WORKER $HOME 'x' `y` 100%A;&\n");
            fs::create_dir(&hostile).unwrap();
            let program = |path: &Path, text: &str| {
                fs::write(path, format!("#!/bin/bash\n{text}\n")).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            };
            let said = parent.path().join("said");
            fs::write(&said, "").unwrap();
            program(
                &hostile.join("gelu"),
                &format!(
                    "say() {{ echo \"$@\" >> \"$SAID\"; }}\n\
                     told() {{ [ -n \"$told\" ] || say told; told=1; }}\n{worker}"
                ),
            );
            program(&parent.path().join("scontrol"), "echo scontrol \"$@\" >> \"$SAID\"");
            let mut job = job();
            job.program = hostile.join("gelu");
            (job.folder, job.notice) = (parent.path().join("WORKER of it's $own"), notice);
            let path = parent.path().join("workers.sh");
            fs::write(&path, job.script().unwrap()).unwrap();
            let search = std::env::var("PATH").unwrap();
            let script = Command::new("bash")
                .arg(&path)
                .env("PATH", format!("{}:{search}", parent.path().display()))
                .env("SAID", &said)
                .env("SLURM_ARRAY_JOB_ID", "7")
                .env("SLURM_ARRAY_TASK_ID", "3")
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            Self { folder: parent, script }
        }

        fn said(&self) -> String {
            fs::read_to_string(self.folder.path().join("said")).unwrap()
        }

        #[track_caller]
        fn wait_for(&self, text: &str) {
            let deadline = Instant::now() + Duration::from_secs(60);
            while !self.said().contains(text) {
                assert!(Instant::now() < deadline, "waited in vain for {text:?}: {}", self.said());
                std::thread::sleep(Duration::from_millis(5));
            }
        }

        fn signal(&self, name: &str) {
            let process = self.script.id().to_string();
            let sent = Command::new("kill").args([&format!("-{name}"), &process]).status().unwrap();
            assert!(sent.success());
        }

        /// Waits for the script's end. Returns its exit code and everything that was recorded.
        fn end(mut self) -> (Option<i32>, String) {
            let code = self.script.wait().unwrap().code();
            (code, self.said())
        }
    }

    /// A worker that ends at the notice, as `gelu work` does after its epoch, and records the notice.
    const OBEDIENT: &str = "trap 'told; end=1' USR1; say begun \"$@\"
        until [ -n \"$end\" ]; do sleep 0.02; done; exit 130";

    #[test]
    fn a_notice_queues_the_job_again_once_the_worker_has_ended() {
        let node = Node::start(OBEDIENT, 90);
        node.wait_for("begun");
        node.signal("USR1");
        let folder = node.folder.path().join("WORKER of it's $own");
        let expected = format!(
            "begun work {} --device cuda:0 --data /data/mnist\ntold\nscontrol requeue 7_3\n",
            folder.display()
        );
        assert_eq!(node.end(), (Some(0), expected));
    }

    #[test]
    fn whoever_cancels_has_cancelled() {
        for signals in [&["TERM"][..], &["TERM", "USR1"], &["USR1", "TERM"], &["TERM", "TERM"]] {
            let worker = "trap told USR1; say begun
                until [ -e \"$SAID.end\" ]; do sleep 0.02; done; exit 130";
            let node = Node::start(worker, 90);
            node.wait_for("begun");
            for signal in signals {
                node.signal(signal);
                node.wait_for("told");
            }
            // Waits until the second signal has reached the script, before the worker ends.
            std::thread::sleep(Duration::from_millis(200));
            fs::write(node.folder.path().join("said.end"), "").unwrap();
            let (code, said) = node.end();
            assert_eq!(code, Some(130), "{signals:?}");
            assert!(said.contains("told") && !said.contains("scontrol"), "{signals:?}: {said}");
        }
    }

    #[test]
    fn a_worker_that_dies_is_started_again_and_one_that_is_done_is_not() {
        let worker = "say begun; [ -e \"$SAID.died\" ] || { touch \"$SAID.died\"; kill -KILL $$; }";
        let node = Node::start(worker, 90);
        assert_eq!(node.end(), (Some(0), "begun\nbegun\n".to_owned()));
        let node = Node::start("say begun; exit 1", 90);
        assert_eq!(node.end(), (Some(1), "begun\n".to_owned()));
        // Something other than Slurm asked this worker to end.
        let node = Node::start("say begun; exit 130", 90);
        assert_eq!(node.end(), (Some(130), "begun\n".to_owned()));
    }

    #[test]
    fn a_worker_that_has_done_everything_when_the_notice_comes_is_not_wanted_again() {
        let worker = "trap 'told; end=1' USR1; say begun
            until [ -n \"$end\" ]; do sleep 0.02; done; exit 0";
        let node = Node::start(worker, 90);
        node.wait_for("begun");
        node.signal("USR1");
        assert_eq!(node.end(), (Some(0), "begun\ntold\n".to_owned()));
    }

    /// Returns whether the script has installed its handler of SIGUSR1. Earlier, the signal would end the script.
    #[cfg(target_os = "linux")]
    fn hears_the_notice(process: u32) -> bool {
        const USR1: u64 = 1 << 9;
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & USR1 != 0
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_notice_while_the_worker_is_being_started_reaches_it() {
        for round in 0..20 {
            let node = Node::start(OBEDIENT, 90);
            while !hears_the_notice(node.script.id()) {
                std::thread::yield_now();
            }
            // The notice comes at different moments around the worker's start.
            std::thread::sleep(Duration::from_micros(100 * round));
            node.signal("USR1");
            let began = Instant::now();
            let (code, said) = node.end();
            assert_eq!(code, Some(0), "{round}: {said}");
            assert!(said.ends_with("scontrol requeue 7_3\n"), "{round}: {said}");
            assert!(began.elapsed() < Duration::from_secs(55), "{round}: nobody told the worker");
        }
    }

    #[test]
    fn an_epoch_that_takes_longer_than_the_notice_is_given_up_and_the_job_queued_again() {
        let worker = "trap told USR1; trap 'say TERM; n=$((n + 1))' TERM; say begun
            until [ \"${n:-0}\" = 2 ]; do sleep 0.02; done; exit 130";
        let node = Node::start(worker, 2);
        node.wait_for("begun");
        node.signal("USR1");
        let expected = "begun\ntold\nTERM\nTERM\nscontrol requeue 7_3\n".to_owned();
        assert_eq!(node.end(), (Some(0), expected));
    }
}
