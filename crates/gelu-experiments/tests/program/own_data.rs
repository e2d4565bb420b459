//! Tests of your own data in one command, as a new user would type it.

use crate::support::Sandbox;
use std::fs;
use std::path::Path;

/// Flags for a short comparison.
const SHORT: [&str; 6] = ["--seeds", "2", "--epochs", "2", "--activations", "gelu,relu"];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, &SHORT, more].concat()
}

/// Writes a table with two classes separated by a line, a number computed from the inputs, and typical complications:
/// a column that numbers the rows, empty cells, decimal commas, texts.
fn write_flowers(sandbox: &Sandbox, file: &str) {
    let row = |i: usize| {
        let length = (i * 37 % 101) as f64 / 10.0;
        let species = if length > 5.0 { "setosa" } else { "virginica" };
        let width = if i.is_multiple_of(9) {
            String::new()
        } else {
            format!("{:.2}", (i * 53 % 17) as f64 / 8.0)
        };
        let price = format!("{:.2}", 3.0 * length + (i % 2) as f64 + 0.25);
        let line = format!("{i};{length};{width};{};{price};{species}\n", ["red", "blue"][i % 2]);
        line.replace('.', ",")
    };
    let rows: String = (1..=150).map(row).collect();
    fs::write(sandbox.path(file), format!("Id;length;width;colour;price;species\n{rows}")).unwrap();
}

fn document(out: &str) -> serde_json::Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn a_table_is_compared_on_by_its_name_and_its_recipe_is_kept() {
    let sandbox = Sandbox::new();
    write_flowers(&sandbox, "flowers.csv");
    let asked = ["compare", "--csv", "flowers.csv", "--target", "species", "--plain"];
    let told = sandbox.run(&with(&asked, &[]));
    let (said, warned) = (told.stdout(), told.stderr());
    assert_eq!(told.code(), 0, "{warned}");
    for part in [
        "flowers: 150 rows, separated by semicolons; the first line names the columns",
        "`species` is the class, 2 classes of",
        "3 columns of numbers and 1 of texts: 5 inputs",
        "16 empty cells are read as the median",
        "left out: `Id` (it counts the rows)",
        "90 rows to train on, 30 to choose by and 30 to report on: three, one and one of five rows of each class, by seed",
        "Saved the recipe as results/flowers/recipe.toml",
        "always ",
    ] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
    assert!(warned.contains("column `Id` is left out, because it counts the rows"), "{warned}");
    let kept = fs::read_to_string(sandbox.path("results/flowers/recipe.toml")).unwrap();
    let recipe: toml::Table = kept.parse().unwrap();
    assert_eq!(recipe["data"]["target"].as_str(), Some("species"));
    assert!(Path::new(recipe["data"]["csv"].as_str().unwrap()).is_absolute());
    let page = fs::read_to_string(sandbox.path("results/flowers/report.html")).unwrap();
    assert!(
        page.contains("Which classes are taken for which") && page.contains("<th>virginica</th>")
    );
    // The same command trains nothing again; a changed recipe is another comparison.
    let again = sandbox.run(&with(&asked, &[])).success();
    assert!(!again.contains("epoch 1"), "{again}");
    let narrow = kept.replace("width = 128", "width = 8");
    fs::write(sandbox.path("mine.toml"), narrow).unwrap();
    let changed = with(&["compare", "--recipe", "mine.toml", "--json"], &[]);
    sandbox.run(&changed).refused(1, "holds another comparison");
    let changed = with(&["compare", "--recipe", "mine.toml", "--json", "--out", "narrow"], &[]);
    let results = document(&sandbox.run(&changed).success());
    let trivial = &results["trivial"][0];
    assert!(trivial["label"].as_str().unwrap().starts_with("always "), "{trivial}");
    assert!((0.4..0.5).contains(&trivial["value"].as_f64().unwrap()), "{trivial}");
    // The test rows differ between seeds, so the program saves no outcome of each.
    assert_eq!(results["data"]["test_examples"], 0);
    for run in sandbox.runs("narrow") {
        assert!(run.join("confusion.csv").exists() && !run.join("outcomes.bin").exists());
    }
    let predicted = sandbox.run(&["predict", "narrow", "7;9,5;;red;30,25", "--json"]).success();
    assert_eq!(document(&predicted)["classes"][0]["class"], "setosa", "{predicted}");
}

#[test]
fn a_number_is_predicted_and_measured_by_its_unexplained_variance() {
    let sandbox = Sandbox::new();
    write_flowers(&sandbox, "flowers.csv");
    let asked =
        ["compare", "--csv", "flowers.csv", "--target", "price", "--ignore", "species", "--json"];
    let told = sandbox.run(&with(&asked, &[]));
    assert_eq!(told.code(), 0, "{}", told.stderr());
    assert!(
        told.stderr().contains("`price` is the number to predict, 0.85 to 31.25"),
        "{}",
        told.stderr()
    );
    let results = document(&told.stdout());
    assert_eq!(results["criterion"]["primary"], "test-unexplained");
    assert_eq!(results["loss"], "unexplained-variance");
    assert_eq!(results["trivial"][0]["label"], "the mean");
    let best =
        |arm: &serde_json::Value| arm["best_epoch"]["test_unexplained"]["median"].as_f64().unwrap();
    for arm in results["arms"].as_array().unwrap() {
        assert!((0.0..0.1).contains(&best(arm)), "{arm}");
    }
    let predicted =
        sandbox.run(&["predict", "results/flowers", "1;4,0;1,0;red;;", "--json"]).success();
    let value = document(&predicted)["value"].as_f64().unwrap();
    assert!((value - 12.75).abs() < 3.0, "{value}");
    let evaluated = sandbox.run(&["eval", "results/flowers"]).success();
    assert!(evaluated.contains("test 1 − R²"), "{evaluated}");
}

#[test]
fn pictures_are_compared_on_by_their_folder() {
    let sandbox = Sandbox::new();
    for (part, pictures) in [("Training", 16), ("val", 6), ("Testing", 6)] {
        for (class, level) in [("dark", 40_u8), ("light", 200)] {
            let folder = sandbox.path(&format!("photos/{part}/{class}"));
            fs::create_dir_all(&folder).unwrap();
            for index in 0..pictures {
                let shade = level
                    + index
                    + if part == "val" {
                        20
                    } else if part == "Testing" {
                        30
                    } else {
                        0
                    };
                let picture = image::GrayImage::from_pixel(14, 14, image::Luma([shade]));
                picture.save(folder.join(format!("{index}.png"))).unwrap();
            }
        }
    }
    let asked = ["compare", "--images", "photos", "--plain", "--learning-rates", "3e-3"];
    let told = sandbox.run(&with(&asked, &[]));
    let said = told.stdout();
    assert_eq!(told.code(), 0, "{}", told.stderr());
    assert!(
        said.contains("32 training, 12 validation and 12 test images of 14×14 pixels, 2 classes"),
        "{said}"
    );
    assert!(said.contains("`val` chooses and `Testing` is tested on"), "{said}");
    assert!(said.contains("always dark") && said.contains("50.00 %"), "{said}");
    // The commonest class of twelve test images says nothing of the first five.
    let few = [&asked[..], &["--test-limit", "5", "--out", "few"]].concat();
    let said = sandbox.run(&with(&few, &[])).success();
    assert!(said.contains("5 test examples alone") && !said.contains("always "), "{said}");
    let recipe = sandbox.run(&["recipe", "new", "--images", "photos", "--size", "8"]).success();
    let recipe: toml::Table = recipe.parse().unwrap();
    assert_eq!(recipe["data"]["validation"].as_integer(), Some(12));
    // Images too small for convolutions.
    assert_eq!(recipe["network"]["kind"].as_str(), Some("classifier"));
}

#[test]
fn a_folder_of_tables_has_a_verdict_at_each() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("mine")).unwrap();
    for (name, step) in [("first", 37), ("second", 41)] {
        let row = |i: usize| {
            format!("{},{}\n", i * step % 101, if i * step % 101 > 50 { "a" } else { "b" })
        };
        let rows: String = (0..60).map(row).collect();
        fs::write(sandbox.path(&format!("mine/{name}.csv")), format!("x,class\n{rows}")).unwrap();
    }
    fs::write(sandbox.path("mine/broken.csv"), "x,class\n1\n").unwrap();
    let asked = ["compare", "tables", "--data", "mine", "--json", "--learning-rates", "3e-3"];
    let told = sandbox.run(&with(&asked, &[]));
    assert_eq!(told.code(), 0, "{}", told.stderr());
    assert!(
        told.stderr().contains("left out: ") && told.stderr().contains("broken.csv"),
        "{}",
        told.stderr()
    );
    let results = document(&told.stdout());
    let at: Vec<&str> = results["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["table"].as_str().unwrap())
        .collect();
    assert_eq!(at, ["first", "second"]);
    assert_eq!(results["trivial"].as_array().unwrap().len(), 2);
    assert_eq!(results["trivial"][1]["table"], "second");
    let one = with(&["compare", "tables", "--data", "mine", "--tables", "frist", "--dry-run"], &[]);
    sandbox.run(&one).refused(2, "did you mean `first`?");
    let numbers = (0..60).map(|i| format!("{},{i}.5\n", i * i)).collect::<String>();
    fs::write(sandbox.path("mine/number.csv"), format!("x,y\n{numbers}")).unwrap();
    let told = sandbox.run(&[
        "compare",
        "tables",
        "--data",
        "mine",
        "--seeds",
        "1",
        "--dry-run",
        "--out",
        "b",
    ]);
    assert!(
        told.stderr().contains("have numbers to predict and the network does not: number"),
        "{}",
        told.stderr()
    );
    fs::write(sandbox.path("mine/twice.csv"), "x,class\n1,a\n1,a\n2,b\n2,b\n3,a\n4,b\n").unwrap();
    let warned = |tables: &str| {
        let asked = ["compare", "tables", "--data", "mine", "--tables", tables];
        sandbox.run(&with(&asked, &["--dry-run"])).stderr().contains("twice: ")
    };
    assert!(warned("first,twice") && !warned("first,second"));
    let one = ["compare", "tables", "--data", "mine", "--tables", "number", "--out", "c"];
    sandbox.run(&one).refused(2, "a network of kind regression predicts numbers");
}

#[test]
fn sizes_are_axes_with_verdicts_of_their_own() {
    let sandbox = Sandbox::new();
    let asked = [
        "compare",
        "--widths",
        "8,16",
        "--depths",
        "1",
        "--batch-sizes",
        "100",
        "--train-limit",
        "600",
        "--json",
    ];
    let results = document(&sandbox.run(&with(&asked, &[])).success());
    let runs = results["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * 2 * 2);
    let widths: Vec<f64> = runs.iter().map(|run| run["width"].as_f64().unwrap()).collect();
    assert!(widths.contains(&8.0) && widths.contains(&16.0));
    assert_eq!(results["differences"].as_array().unwrap().len(), 2);
    let size = |width: &str| {
        let runs = sandbox.runs("results/digits");
        let run = runs.iter().find(|run| run.to_string_lossy().contains(width)).unwrap();
        fs::metadata(run.join("model.bpk")).unwrap().len()
    };
    assert!(size("-width8-") < size("-width16-"));
    sandbox.run(&["compare", "cifar10-cnn", "--widths", "8"]).refused(2, "has no single width");
}

#[test]
fn what_is_missing_or_meant_otherwise_is_said() {
    let sandbox = Sandbox::new();
    write_flowers(&sandbox, "flowers.csv");
    fs::create_dir(sandbox.path("folder")).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "csv"], "`gelu compare --csv FILE --target COLUMN`"),
        (&["compare", "flowers.csv"], "gelu compare --csv flowers.csv --target COLUMN"),
        (&["compare", "folder"], "gelu compare --images folder"),
        (&["compare", "--csv", "flowers.csv"], "is to be predicted? --target COLUMN says it"),
        (&["compare", "--target", "species"], "go with --csv FILE"),
        (&["compare", "digits", "--csv", "flowers.csv"], "cannot be used with"),
        (&["recipe", "new"], "--csv FILE --target COLUMN, or --images DIR"),
    ];
    for (arguments, expected) in cases {
        sandbox.run(arguments).refused(2, expected);
    }
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "--csv", "flowers.csv", "--target", "specie"], "did you mean `species`?"),
        (&["compare", "--csv", "nowhere.csv", "--target", "x"], "nowhere.csv"),
        (&["compare", "--images", "flowers.csv"], "is a file"),
        (&["data", "info", "idx", "--data", "flowers.csv"], "gelu compare --csv flowers.csv"),
        (&["data", "info", "idx", "--data", "folder"], "idx stands for four files"),
    ];
    for (arguments, expected) in cases {
        sandbox.run(arguments).refused(1, expected);
    }
    assert!(!sandbox.path("results").exists(), "nothing is made for what is refused");
}
