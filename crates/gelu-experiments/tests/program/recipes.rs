//! End-to-end tests of every experiment of the paper with the real program, on generated files in the format of its
//! data: few examples, few epochs, the networks at full size.

use crate::support::document::Document;
use crate::support::{Sandbox, outcomes, results_of, snapshot};
use gelu_compare::measure::Reported;
use gelu_compare::runs::Stage;
use gelu_experiments::measure::LossKind;
use gelu_experiments::recipe::Recipe;
use gelu_learner::networks::ReadRun;
use std::path::Path;

/// The figures of every experiment's comparison, and the number of independently sampled units (images, tweets,
/// recordings) in its small test set here.
const LEFT: &[(&str, &[&str], usize)] = &[
    ("digits", &["curves"], 2000),
    ("mnist-classifier", &["figure-2"], 100),
    ("mnist-script", &["gelu"], 100),
    ("mnist-robustness", &["curves", "figure-3"], 100),
    ("mnist-autoencoder", &["figure-4"], 100),
    ("tweet-tagger", &["tweets"], 20),
    ("timit-frames", &["figure-5"], 2),
    ("spoken-digits", &["spoken-digits"], 4),
    ("symbolic", &["curves"], 2000),
    ("char-gpt", &["curves"], 3),
    ("cifar10-cnn", &["figure-6"], 4),
    ("cifar10-cnn-narrow", &["curves"], 1),
    ("airbench-small", &["curves"], 4),
    ("cifar100-wrn", &["figure-7"], 1),
    ("cifar100-wrn-original", &["curves"], 1),
    ("cifar10-wrn", &["curves"], 1),
];

/// Writes a small generated set for an experiment, trains two activations on it, and checks the results that every
/// experiment must have.
#[track_caller]
fn compared(name: &str, generate: &[&str], more: &[&str]) -> Document {
    let sandbox = Sandbox::new();
    let recipe = Recipe::named(name).unwrap();
    let mut arguments = vec!["compare", name, "--seeds", "1", "--activations", "gelu,relu"];
    arguments.extend(more);
    arguments.push("--json");
    if !generate.is_empty() {
        let mut synth = vec!["data", "synth", &recipe.data.set, "data"];
        synth.extend(generate);
        sandbox.run(&synth).success();
        arguments.extend(["--data", "data"]);
    }
    let document: Document = serde_json::from_str(&sandbox.run(&arguments).success()).unwrap();
    assert!(document.data.synthetic, "generated data are called so");
    for run in &document.runs {
        assert_eq!(run.status, "finished", "{run:?}");
        assert!(run.epochs.last().unwrap().test_loss.unwrap().is_finite(), "{run:?}");
    }
    let folder = sandbox.path("results").join(name);
    let (_, figures, sampled) = LEFT.iter().find(|(known, ..)| *known == name).unwrap();
    assert_outcomes(&folder, *sampled);
    for figure in figures.iter().chain(&["figure-1"]) {
        assert_is_svg(&folder.join(format!("{figure}.svg")));
        assert!(folder.join(format!("{figure}.png")).exists(), "{figure}.png");
    }
    assert_predicts_without_data(&sandbox, name);
    document
}

/// Asserts that a network predicts without its data set.
#[track_caller]
fn assert_predicts_without_data(sandbox: &Sandbox, name: &str) {
    let (data, moved) = (sandbox.path("data"), sandbox.path("moved"));
    let predict = |input: &str, more: &[&str]| {
        let folder = format!("results/{name}");
        sandbox.run(&[&["predict", &folder, input, "--json"], more].concat())
    };
    let json = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    match name {
        "char-gpt" => {
            let text = std::fs::read_to_string(data.join("input.txt")).unwrap();
            std::fs::rename(data, moved).unwrap();
            let characters = text.chars().count();
            let rest = characters - characters * 9 / 10;
            let test: String =
                text.chars().skip(characters * 9 / 10 + rest / 2).take(200).collect();
            let said = json(predict(&test, &["--loss"]).success());
            let snapshot = snapshot(&sandbox.path("results/char-gpt"));
            let is_it = |folder: &str| said["run"].as_str().unwrap().ends_with(folder);
            let run = snapshot.runs.iter().find(|run| is_it(&run.folder)).unwrap();
            let reported =
                snapshot.design.reported.epoch_of(&snapshot.selection(), &run.epochs).unwrap();
            let measured = reported.get("test_loss").unwrap();
            let found = said["loss"].as_f64().unwrap();
            assert!((found / measured - 1.0).abs() < 1e-6, "{said}: {measured} was measured");
            assert_eq!(said["characters"], snapshot.test_examples);
            let one: String = test.chars().take(1).collect();
            predict(&one, &["--loss"]).refused(2, "give at least two");
        }
        "spoken-digits" => {
            std::fs::rename(data, &moved).unwrap();
            let recording = moved.join("7_voice0_3.wav");
            let said = json(predict(recording.to_str().unwrap(), &[]).success());
            let classes = said["classes"].as_array().unwrap();
            let sum: f64 = classes.iter().map(|c| c["probability"].as_f64().unwrap()).sum();
            assert!(classes.len() == 10 && (sum - 1.0).abs() < 1e-5, "{said}");
            predict("nowhere.wav", &[]).refused(1, "nowhere.wav");
        }
        "tweet-tagger" => {
            std::fs::rename(data, &moved).unwrap();
            let said = json(predict("lol  i won't", &[]).success());
            let words = said["words"].as_array().unwrap();
            let words: Vec<&str> =
                words.iter().map(|word| word["word"].as_str().unwrap()).collect();
            assert_eq!(words, ["lol", "i", "won't"]);
            predict(" ", &[]).refused(2, "there is no word");
            // Without its shared file, the network needs the data set.
            std::fs::remove_dir_all(sandbox.path("results/tweet-tagger/readers")).unwrap();
            let refused = predict("lol", &["--data", "data"]).refused(1, "readers/words-");
            assert!(
                refused.contains("restore this file, or name the folder of the data"),
                "{refused}"
            );
            assert_eq!(json(predict("lol  i won't", &["--data", "moved"]).success()), said);
        }
        "mnist-autoencoder" => {
            predict("x.png", &[]).refused(2, "this network is an autoencoder");
        }
        _ => {}
    }
}

#[track_caller]
fn assert_is_svg(path: &Path) {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(text.starts_with("<svg") && text.contains("<polyline"), "{}", path.display());
}

/// Asserts that the outcomes of the test examples add up to the measured value of every reported network; exactly, if
/// it classifies.
#[track_caller]
pub(super) fn assert_outcomes(folder: &Path, sampled: usize) {
    let snapshot = snapshot(folder);
    for run in &snapshot.runs {
        if run.key.stage == Stage::Tuning {
            assert_eq!(outcomes(run), None, "{run:?}");
            continue;
        }
        let outcomes = outcomes(run).unwrap();
        let groups = outcomes.groups();
        assert_eq!((groups.len(), groups.examples()), (sampled, snapshot.test_examples));
        let reported =
            snapshot.design.reported.epoch_of(&snapshot.selection(), &run.epochs).unwrap();
        assert_eq!(outcomes.epoch(), reported.epoch);
        match snapshot.criterion.primary.as_str() {
            "test-error" => assert_eq!(Some(outcomes.mean()), reported.get("test_error")),
            primary @ ("test-loss" | "test-rmse") => {
                let measured = reported.get(&primary.replace('-', "_"));
                let (found, loss) = (outcomes.mean(), measured.unwrap());
                assert!((found / loss - 1.0).abs() < 1e-6, "{found}, {loss} was measured");
            }
            "noisy-test-error" => {
                let noise = &run.extras.get::<ReadRun>().unwrap().noise;
                let noisy = noise.iter().filter(|point| point.amplitude > 0.0);
                let errors: Vec<f64> = noisy.map(|point| point.test_error.unwrap()).collect();
                let (found, mean) =
                    (outcomes.mean(), errors.iter().sum::<f64>() / errors.len() as f64);
                // Sums by group are added in another order.
                assert!((found - mean).abs() < 1e-12, "{found}, {mean} was measured");
            }
            _ => panic!("a training loss is of no test example"),
        }
    }
}

/// Asserts that the training loss falls in every run.
#[track_caller]
fn assert_learns(document: &Document) {
    for run in &document.runs {
        let (first, last) = (run.epochs.first().unwrap(), run.epochs.last().unwrap());
        assert!(last.train_loss < first.train_loss, "{run:?}");
    }
}

#[test]
fn every_experiment_is_tested_here() {
    let tested: Vec<&str> = LEFT.iter().map(|(name, ..)| *name).collect();
    // The recipe `tables` is tested with the user's own data.
    let names: Vec<&str> = Recipe::names().into_iter().filter(|name| *name != "tables").collect();
    assert_eq!(tested, names);
}

#[test]
fn digits() {
    assert_learns(&compared("digits", &[], &["--epochs", "2", "--train-limit", "600"]));
}

const MNIST: &[&str] = &["--train", "700", "--test", "100"];

#[test]
fn mnist_classifier() {
    let short = ["--epochs", "2", "--validation", "100", "--learning-rates", "1e-3,1e-4"];
    let document = compared("mnist-classifier", MNIST, &short);
    assert_eq!(document.runs.len(), 2 * 2 * 2, "activations, learning rates, dropout rates");
    assert_learns(&document);
}

#[test]
fn mnist_script() {
    let document = compared("mnist-script", MNIST, &["--epochs", "3"]);
    assert!(document.runs.iter().all(|run| run.epochs[0].valid_loss.is_none()));
}

#[test]
fn mnist_robustness() {
    let short = ["--epochs", "2", "--validation", "100", "--learning-rates", "1e-3"];
    let document = compared("mnist-robustness", MNIST, &short);
    for run in &document.runs {
        let last = run.epochs.last().unwrap();
        assert_eq!(run.noise.len(), 16);
        assert_eq!(run.noise[0].amplitude, 0.0);
        assert_eq!(Some(run.noise[0].test_loss), last.test_loss, "no noise is the test set itself");
        assert!(run.noise[15].test_loss > run.noise[0].test_loss, "{:?}", run.noise);
    }
}

#[test]
fn mnist_autoencoder() {
    let short = ["--epochs", "2", "--train-limit", "320", "--learning-rates", "1e-3"];
    let document = compared("mnist-autoencoder", MNIST, &short);
    assert_eq!(document.loss, LossKind::SquaredError);
    assert!(document.runs.iter().all(|run| run.epochs[0].test_error.is_none()));
    assert_learns(&document);
}

#[test]
fn tweet_tagger() {
    let short = ["--epochs", "3", "--learning-rates", "1e-3"];
    assert_learns(&compared("tweet-tagger", &["--train", "60", "--test", "20"], &short));
}

#[test]
fn timit_frames() {
    let short = ["--epochs", "1", "--batch-size", "3", "--train-limit", "6", "--test-limit", "2"];
    let short = [&short[..], &["--learning-rates", "1e-3"]].concat();
    let document = compared("timit-frames", &["--train", "1", "--test", "1"], &short);
    assert_eq!(document.reported, Reported::BestEpoch);
}

#[test]
fn spoken_digits() {
    let short = ["--epochs", "3", "--batch-size", "2", "--train-limit", "12", "--test-limit", "4"];
    let short = [&short[..], &["--learning-rates", "1e-3", "--dropout", "0"]].concat();
    assert_learns(&compared("spoken-digits", &["--train", "1"], &short));
}

#[test]
fn char_gpt() {
    let short = ["--epochs", "2", "--batches", "4", "--batch-size", "2", "--test-limit", "200"];
    let short = [&short[..], &["--learning-rates", "1e-3"]].concat();
    let synth = ["--train", "9000", "--test", "500"];
    let document = compared("char-gpt", &synth, &short);
    assert_learns(&document);
    let drawn = document.runs.iter().map(|run| run.epochs[0].train_loss);
    assert!(drawn.into_iter().all(|loss| loss > 3.0), "untrained, 31 characters are alike");
}

/// A text of your own, gated units next to ordinary activations, and the text that the networks write.
#[test]
fn a_text_of_ones_own_and_gated_units() {
    let sandbox = Sandbox::new();
    let text: String = (0..400).map(|i| format!("line {} of a text. Größe!\n", i % 37)).collect();
    std::fs::write(sandbox.path("own.txt"), text).unwrap();
    let short = ["--epochs", "1", "--batches", "2", "--batch-size", "2", "--seeds", "1", "--json"];
    let compare = |more: &[&str]| {
        let all = ["compare", "char-gpt", "--data", "own.txt", "--learning-rates", "1e-3"];
        sandbox.run(&[&all[..], &short, more].concat())
    };
    let document: Document = serde_json::from_str(
        &compare(&["--activations", "gelu,geglu,gated:tanh,PolyNorm"]).success(),
    )
    .unwrap();
    assert_eq!((document.data.source.as_str(), document.data.synthetic), ("own.txt", false));
    let mut arms: Vec<&str> = document.runs.iter().map(|run| run.activation.as_str()).collect();
    arms.sort_unstable();
    assert_eq!(arms, ["gated:tanh", "geglu", "gelu", "polynorm"]);

    let eval = |more: &[&str]| {
        let all = ["eval", "results/char-gpt", "--data", "own.txt"];
        sandbox.run(&[&all[..], more].concat())
    };
    let written = eval(&["--write", "20", "--prompt", "Größe", "--json"]).success();
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    for run in written.as_array().unwrap() {
        let text = run["written"].as_str().unwrap();
        assert!(text.starts_with("Größe") && text.chars().count() == 25, "{text}");
        let (loss, bits) = (run["test_loss"].as_f64(), run["test_bits_per_byte"].as_f64());
        // Two of every 25 characters have two bytes.
        let ratio = loss.unwrap() / bits.unwrap() / std::f64::consts::LN_2;
        assert!((1.05..1.1).contains(&ratio), "{ratio} bytes a character");
    }
    // The likeliest characters are the same every time; `eval` writes the same text at temperature 0.
    let predict = |text: &str| {
        let out = "results/char-gpt";
        let more = ["--characters", "7", "--json"];
        sandbox.run(&[&["predict", out, text][..], &more].concat())
    };
    let predicted: serde_json::Value = serde_json::from_str(&predict("Größe").success()).unwrap();
    let text = predicted["text"].as_str().unwrap();
    assert_eq!(text.chars().count(), 7, "{predicted}");
    let likeliest = eval(&["--write", "7", "--prompt", "Größe", "--temperature", "0", "--json"]);
    let likeliest: serde_json::Value = serde_json::from_str(&likeliest.success()).unwrap();
    let same = likeliest
        .as_array()
        .unwrap()
        .iter()
        .find(|run| predicted["run"].as_str().unwrap().ends_with(run["run"].as_str().unwrap()));
    assert_eq!(same.unwrap()["written"], format!("Größe{text}"));
    predict("日").refused(2, "does not occur in the text that the network was trained on");
    predict("").refused(2, "give at least one character");
    for (more, said) in [
        (["--write", "5", "--prompt", "日"], "does not occur in own.txt"),
        (["--write", "5", "--temperature", "-1"], "it is 0 or more"),
        (["--noise", "0.5", "--write", "5"], "a text has none"),
    ] {
        eval(&more).refused(2, said);
    }
    for (other, what) in
        [("swiglu", "the gate of a gated unit"), ("polynorm", "a layer of its own")]
    {
        let others = sandbox.run(&["compare", "--activations", &format!("gelu,{other}")]);
        others.refused(2, &format!("{other} is {what}, which only networks of kind gpt have"));
    }
}

#[test]
fn cifar10_cnn() {
    let short = ["--epochs", "2", "--batch-size", "4", "--train-limit", "8"];
    let short = [&short[..], &["--validation", "4", "--learning-rates", "1e-3"]].concat();
    let document = compared("cifar10-cnn", &["--train", "16", "--test", "4"], &short);
    let stages = |stage| document.runs.iter().filter(|run| run.stage == stage).count();
    assert_eq!((stages(Stage::Tuning), stages(Stage::Final)), (2, 2), "tuned, then trained on all");
    for run in &document.runs {
        assert_eq!(run.epochs[0].valid_error.is_some(), run.stage == Stage::Tuning);
    }
}

const FEW: &[&str] =
    &["--epochs", "1", "--batch-size", "2", "--train-limit", "2", "--test-limit", "1"];

#[test]
fn cifar10_cnn_narrow() {
    compared("cifar10-cnn-narrow", &["--train", "16", "--test", "4"], FEW);
}

#[test]
fn symbolic() {
    let short = ["--epochs", "2", "--train-limit", "200", "--formulas", "product,triple"];
    let document = compared("symbolic", &[], &short);
    assert_eq!(document.loss, LossKind::ScaledSquaredError);
    assert_eq!((document.runs.len(), document.differences.len()), (4, 2));
    assert_learns(&document);
}

#[test]
fn airbench_small() {
    let short = ["--epochs", "3", "--batch-size", "4"];
    assert_learns(&compared("airbench-small", &["--train", "16", "--test", "4"], &short));
}

#[test]
fn cifar100_wrn() {
    compared("cifar100-wrn", &["--train", "16", "--test", "4"], FEW);
}

#[test]
fn cifar100_wrn_original() {
    compared("cifar100-wrn-original", &["--train", "16", "--test", "4"], FEW);
}

#[test]
fn cifar10_wrn() {
    compared("cifar10-wrn", &["--train", "16", "--test", "4"], FEW);
}

/// Trains with convolutions, matrix products, batch norms and the optimiser, on one thread and on three, and compares
/// the resulting files byte by byte.
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    sandbox.run(&["data", "synth", "cifar10", "data", "--train", "16", "--test", "4"]).success();
    let trained = |name: &str, threads: &str| {
        let out = format!("{name}-{threads}");
        let mut arguments = vec!["train", name, "--data", "data", "--out", &out];
        arguments.extend(["--epochs", "1", "--batch-size", "8"]);
        let mut command = sandbox.command(&arguments);
        assert!(command.env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
        results_of(&sandbox.runs(&out)[0])
    };
    for name in ["cifar10-wrn", "airbench-small"] {
        assert!(trained(name, "1") == trained(name, "3"), "{name}");
    }
}

/// The first process that needs the whitening fits it and saves it for all.
#[test]
fn a_whitening_does_not_depend_on_the_number_of_threads_and_predicts_without_the_data() {
    let sandbox = Sandbox::new();
    sandbox.run(&["data", "synth", "mnist", "data", "--train", "900", "--test", "20"]).success();
    let digits = Recipe::text("digits").unwrap();
    let (head, rest) = digits.split_once("[data]\n").unwrap();
    let (_, tail) = rest.split_once("\n\n").unwrap();
    let data = "idx = \"data\"\npixels = \"centred\"\nnormalisation = { zca = { regulariser = 1e-5 } }\n\
                validation = 50\n";
    std::fs::write(sandbox.path("mine.toml"), format!("{head}[data]\n{data}\n{tail}")).unwrap();
    let trained = |threads: &str| {
        let mut command =
            sandbox.command(&["train", "--recipe", "mine.toml", "--epochs", "1", "--out", threads]);
        command
            .env("RAYON_NUM_THREADS", threads)
            .env("GELU_CACHE", sandbox.path(&format!("cache-{threads}")));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        results_of(&sandbox.runs(threads)[0])
    };
    assert!(trained("1") == trained("3"));

    // The comparison saves the whitening, so that prediction needs no data.
    image::GrayImage::from_fn(28, 28, |x, y| image::Luma([(9 * x.min(y)) as u8]))
        .save(sandbox.path("ramp.png"))
        .unwrap();
    std::fs::rename(sandbox.path("data"), sandbox.path("moved")).unwrap();
    let predicted = || sandbox.run(&["predict", "1", "ramp.png", "--json"]);
    let by_file = predicted().success();
    assert_eq!(by_file.matches("probability").count(), 10, "{by_file}");
    std::fs::remove_dir_all(sandbox.path("1/readers")).unwrap();
    let refused = predicted().refused(1, "1/readers/zca-");
    assert!(refused.contains("restore this file, or name the folder of the data set"), "{refused}");
    std::fs::rename(sandbox.path("moved"), sandbox.path("data")).unwrap();
    assert_eq!(predicted().success(), by_file);
}
