//! Recipes for the user's own data, as the book has them.

use crate::recipes::assert_outcomes;
use crate::support::Sandbox;
use crate::support::document::Document;
use burn::store::{ModuleStore, SafetensorsStore};
use gelu_experiments::recipe::Recipe;

/// Writes files of your own data, as in the guide.
fn write_own_data(sandbox: &Sandbox) {
    sandbox
        .run(&["data", "synth", "mnist", "fashion", "--train", "4000", "--test", "60"])
        .success();
    std::fs::remove_file(sandbox.path("fashion/SYNTHETIC")).unwrap();
    for (class, shade) in [("rose", 180), ("tulip", 60)] {
        let folder = sandbox.path("flowers").join(class);
        std::fs::create_dir_all(&folder).unwrap();
        for index in 0..40 {
            let picture =
                image::RgbImage::from_fn(40, 30, |x, _| image::Rgb([shade + index, x as u8, 9]));
            picture.save(folder.join(format!("{index}.jpg"))).unwrap();
        }
    }
    let rows = (0..300).map(|i| {
        let length = (i * 37 % 101) as f64 / 100.0;
        let species = if length > 0.5 { "setosa" } else { "virginica" };
        format!("{i},{length},{},{species}\n", ["red", "blue"][i % 2])
    });
    std::fs::write(
        sandbox.path("irises.csv"),
        format!("number,length,colour,species\n{}", rows.collect::<String>()),
    )
    .unwrap();
}

/// Returns the starting recipe of the book with each of its `[data]` blocks.
fn own_recipes() -> Vec<String> {
    let page = include_str!("../../../../docs/src/how-to/own-data.md");
    let digits = Recipe::text("digits").unwrap();
    let (head, rest) = digits.split_once("[data]\n").unwrap();
    let (_, tail) = rest.split_once("\n\n").unwrap();
    let data = page.split("```toml\n").skip(1).map(|block| block.split_once("```").unwrap().0);
    data.map(|data| format!("{head}{data}\n{tail}")).collect()
}

#[test]
fn data_of_ones_own_are_compared_on_as_the_book_says() {
    let sandbox = Sandbox::new();
    write_own_data(&sandbox);
    std::fs::create_dir(sandbox.path("elsewhere")).unwrap();
    let recipes = own_recipes();
    // The test rows of a table differ between seeds, so no outcomes are saved.
    let expected = [("fashion", Some(60)), ("flowers", Some(16)), ("irises.csv", None)];
    assert_eq!(recipes.len(), expected.len());
    for (recipe, (name, examples)) in recipes.iter().zip(expected) {
        std::fs::write(sandbox.path("mine.toml"), recipe).unwrap();
        let out = format!("results/{name}");
        // A relative path starts at the recipe, not at the current folder.
        let arguments =
            ["compare", "--recipe", "../mine.toml", "--out", &format!("../{out}"), "--json"];
        let more = [
            "--seeds",
            "1",
            "--epochs",
            "4",
            "--activations",
            "gelu,relu",
            "--batch-size",
            "16",
            "--dropout",
            "0",
        ];
        let mut command = sandbox.command(&[&arguments[..], &more].concat());
        let output = command.current_dir(sandbox.path("elsewhere")).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let document: Document = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((document.data.source.as_str(), document.data.synthetic), (name, false));
        for run in &document.runs {
            assert!(run.epochs.last().unwrap().train_error.unwrap() < 0.3, "{name}: {run:?}");
        }
        match examples {
            Some(examples) => assert_outcomes(&sandbox.path(&out), examples),
            None => {
                assert!(sandbox.runs(&out).iter().all(|run| !run.join("outcomes.bin").exists()))
            }
        }

        let evaluated = sandbox.run(&["eval", &out, "--json"]).success();
        let evaluated: serde_json::Value = serde_json::from_str(&evaluated).unwrap();
        let first = evaluated.as_array().unwrap_or_else(|| panic!("{evaluated}"))[0].clone();
        let measured = document.runs[0].epochs.last().unwrap().test_loss.unwrap();
        let found = first["test_loss"].as_f64().unwrap();
        assert!((found - measured).abs() <= 1e-5 * measured, "{first}");

        assert_predicts(&sandbox, &out, name);
        let place = sandbox.path(name);
        std::fs::rename(&place, sandbox.path("moved")).unwrap();
        sandbox
            .run(&["eval", &out])
            .refused(1, "there is nothing; if it was moved, --data names the new place");
        sandbox.run(&["eval", &out, "--data", "moved"]).success();
        std::fs::rename(sandbox.path("moved"), place).unwrap();
    }
}

/// The cache recognises the same files in another folder, and the data get the name and location of that folder.
#[test]
fn a_copy_of_a_folder_of_pictures_is_called_by_its_own_place() {
    let sandbox = Sandbox::new();
    write_own_data(&sandbox);
    let recipe = own_recipes().swap_remove(1);
    let source = |name: &str| {
        std::fs::write(
            sandbox.path("mine.toml"),
            recipe.replace("\"flowers\"", &format!("{name:?}")),
        )
        .unwrap();
        let submit = ["submit", "--recipe", "mine.toml", "--batch-size", "16", "--out"];
        let out = format!("of-{name}");
        sandbox.run(&[&submit[..], &[out.as_str()]].concat()).success();
        let comparison = std::fs::read_to_string(sandbox.path(&out).join("comparison.toml"));
        comparison.unwrap().parse::<toml::Table>().unwrap()["data"].clone()
    };
    let first = source("flowers");
    std::fs::rename(sandbox.path("flowers"), sandbox.path("blossoms")).unwrap();
    let second = source("blossoms");
    assert_eq!(first["fingerprint"], second["fingerprint"]);
    for (source, name) in [(first, "flowers"), (second, "blossoms")] {
        assert_eq!(source["name"].as_str(), Some(name));
        assert!(source["location"].as_str().unwrap().ends_with(name), "{source}");
    }
}

/// Asserts that the best network predicts the class of an easy input, by the class's name.
#[track_caller]
fn assert_predicts(sandbox: &Sandbox, out: &str, name: &str) {
    let inputs: &[(&str, &str)] = match name {
        "flowers" => &[("away/rose/3.jpg", "rose"), ("away/tulip/3.jpg", "tulip")],
        // A row without the class and the ignored columns, and one with all columns.
        "irises.csv" => &[("0.95,red", "setosa"), ("7,0.05,blue,setosa", "virginica")],
        _ => &[],
    };
    // The network has everything it needs, even if its data were moved.
    std::fs::rename(sandbox.path(name), sandbox.path("away")).unwrap();
    for (input, class) in inputs {
        let said = sandbox.run(&["predict", out, input, "--json"]).success();
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["classes"][0]["class"], *class, "{input}: {said}");
        let probabilities = said["classes"].as_array().unwrap().iter();
        let sum: f64 = probabilities.map(|class| class["probability"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{said}");
    }
    let Some((input, _)) = inputs.first() else {
        std::fs::rename(sandbox.path("away"), sandbox.path(name)).unwrap();
        return;
    };
    let lines = sandbox.run(&["predict", out, input]).success();
    assert!(lines.contains("by the network in ") && lines.contains("/runs/"), "{lines}");
    let wrong: &[(&str, &str)] = match name {
        "irises.csv" => &[
            ("0.95,green", "no row that was trained on has that text"),
            ("0.95", "the row has 1 cells; it needs 2: `length`, `colour`"),
            ("long,red", "column `length` of the row is `long`: it has to be a finite number"),
        ],
        _ => &[("away/rose/none.jpg", "none.jpg"), ("own.toml", "own.toml")],
    };
    for (input, said) in wrong {
        let refused = sandbox.run(&["predict", out, input]);
        let code = refused.code();
        assert!(code == 1 || code == 2, "{input}: {code}");
        refused.refused(code, said);
    }
    let file = format!("{name}.safetensors");
    sandbox.run(&["export", out, &file]).success();
    let mut store = SafetensorsStore::from_file(sandbox.path(&file));
    let names: Vec<String> = store.get_all_tensors().unwrap().keys().cloned().collect();
    assert!(names.contains(&"hidden.0.linear.weight".to_owned()), "{names:?}");
    sandbox.run(&["export", out, &file]).refused(1, "choose another path");
    std::fs::rename(sandbox.path("away"), sandbox.path(name)).unwrap();
}

/// The input says nothing about the class, so a network can at best predict the commoner class, that of four in five
/// rows.
#[test]
fn networks_that_learn_nothing_are_said_to() {
    let sandbox = Sandbox::new();
    let rows =
        (0..300).map(|i| format!("{},{}\n", i % 2, if i % 5 == 0 { "rare" } else { "common" }));
    std::fs::write(sandbox.path("irises.csv"), format!("x,species\n{}", rows.collect::<String>()))
        .unwrap();
    let recipe = own_recipes().swap_remove(2).replace("ignore = [\"number\"]\n", "");
    std::fs::write(sandbox.path("mine.toml"), recipe).unwrap();
    let told = sandbox.run(&["compare", "--recipe", "mine.toml", "--seeds", "1", "--plain"]);
    let said = told.stderr();
    assert_eq!(told.code(), 0, "{said}");
    assert!(
        said.contains("no network is better than") && said.contains("errs in 20.00% of"),
        "{said}"
    );
}

#[test]
fn what_a_recipe_says_of_own_data_is_checked() {
    let sandbox = Sandbox::new();
    write_own_data(&sandbox);
    let table = own_recipes().swap_remove(2);
    for (instead, code, expected) in [
        ("set = \"mnist\"\ncsv = \"irises.csv\"", 2, "data names 2 sets"),
        ("", 2, "data names 0 sets"),
        ("idx = \"irises.csv\"", 2, "only a table has some"),
        ("csv = \"nowhere.csv\"", 1, "nowhere.csv: there is nothing"),
        ("csv = \"flowers\"", 1, "is not a file"),
    ] {
        let recipe = table.replace("csv = \"irises.csv\"", instead);
        std::fs::write(sandbox.path("mine.toml"), recipe).unwrap();
        sandbox.run(&["compare", "--recipe", "mine.toml", "--dry-run"]).refused(code, expected);
    }
    let unknown = ["data", "info", "csv", "--data", "irises.csv", "--target", "kind"];
    sandbox.run(&unknown).refused(1, "there are: `number`, `length`, `colour`, `species`");
    let told = sandbox.run(&[
        "data",
        "info",
        "csv",
        "--data",
        "irises.csv",
        "--target",
        "species",
        "--ignore",
        "number",
    ]);
    assert!(
        told.stdout().contains(
            "180 training, 60 validation and 60 test rows, 3 numbers an input, 2 classes"
        )
    );
    assert_eq!(told.code(), 0, "{}", told.stderr());
    let columns = told.stdout();
    for line in [
        "  `number`: left out\n",
        "  `length`: a number, 0 to 1\n",
        "  `colour`: 2 texts, an input each: `blue`, `red`\n",
        "  `species`: the class, 2 classes of ",
    ] {
        assert!(columns.contains(line), "{columns}");
    }
    let told = sandbox.run(&["data", "info", "pictures", "--data", "flowers"]).success();
    assert!(told.contains("64 training and 16 test images of 40×30 pixels, 2 classes"), "{told}");
    sandbox.run(&["data", "info", "idx"]).refused(2, "--data DIR");
}
