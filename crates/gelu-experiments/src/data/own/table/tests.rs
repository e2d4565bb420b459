use super::*;

fn asked(target: &str) -> DataRequest {
    DataRequest { target: Some(target.to_owned()), ..DataRequest::from("csv") }
}

fn of(asked: &DataRequest, text: &str) -> Result<Table> {
    Table::parse(asked, Path::new("t.csv"), text.as_bytes())
}

fn refused(asked: &DataRequest, text: &str) -> String {
    of(asked, text).unwrap_err().to_string()
}

/// Returns a table with the columns `x` and `c`, with `count` rows of two classes.
fn rows(count: usize, x: impl Fn(usize) -> String) -> String {
    let row = |i| format!("{},{}\n", x(i), ["a", "b"][i % 2]);
    format!("x,c\n{}", (0..count).map(row).collect::<String>())
}

fn all(table: &Table, seed: u64) -> TableParts {
    table.of_seed(seed, [usize::MAX; 3])
}

#[test]
fn columns_are_scaled_by_the_rows_that_are_trained_on() {
    let text = "id,part,size,colour,kind\n\
        1,train,1,red,10\n2,train,3,blue,9\n3,valid,5,red,9\n4,test,-1,blue,10\n";
    let asked =
        DataRequest { split: Some("part".into()), ignore: vec!["id".into()], ..asked("kind") };
    let table = of(&asked, text).unwrap();
    assert_eq!((table.target.classes(), table.width()), (2, 3));
    let TableParts { parts: [train, valid, test], .. } = all(&table, 1);
    // The inputs are size, blue and red; 9 sorts before 10. Rows are shuffled.
    let mut rows: Vec<(&[f32], u8)> =
        train.inputs.chunks(3).zip(train.labels.iter().copied()).collect();
    rows.sort_by_key(|row| row.1);
    assert_eq!(rows, [(&[1.0, 1.0, 0.0][..], 0), (&[-1.0, 0.0, 1.0][..], 1)]);
    assert_eq!((valid.inputs, valid.labels), (vec![3.0, 0.0, 1.0], vec![0]));
    assert_eq!((test.inputs, test.labels), (vec![-3.0, 1.0, 0.0], vec![1]));
    let fingerprint =
        |text: &str| parse(&asked, Path::new("t.csv"), text.as_bytes()).unwrap().source.fingerprint;
    assert_ne!(fingerprint(text), fingerprint(&text.replace("-1,blue", "-2,blue")));
}

#[test]
fn without_a_column_for_it_each_seed_splits_the_rows_in_its_own_way() {
    let table = of(&asked("c"), &rows(50, |i| (i * i).to_string())).unwrap();
    assert_eq!(table.sizes(), [30, 10, 10]);
    assert!(!table.has_test_rows());
    let [first, second] = [1, 2].map(|seed| all(&table, seed));
    for TableParts { parts, .. } in [&first, &second] {
        for part in parts {
            let ones = part.labels.iter().filter(|&&label| label == 1).count();
            assert_eq!(2 * ones, part.labels.len());
        }
        let train = &parts[0].inputs;
        let mean = train.iter().sum::<f32>() / 30.0;
        let square = train.iter().map(|x| x * x).sum::<f32>() / 30.0;
        assert!(mean.abs() < 1e-5 && (square - 1.0).abs() < 1e-5, "{mean} {square}");
    }
    assert_ne!(first.parts[2], second.parts[2]);
    assert_eq!(first, all(&table, 1));
    let few = table.of_seed(1, [7, 3, 3]);
    assert_eq!(few.parts.map(|part| part.labels.len()), [7, 3, 3]);
}

#[test]
fn empty_cells_are_the_median_or_one_more_text() {
    let cells = ["1", "", "3", "NA", "100", "5", "?", "7"];
    let colours = ["red", "", "blue", "red", "null", "blue", "red", "blue"];
    let row = |i: usize| {
        let part = if i < 6 { "train" } else { ["valid", "test"][i % 2] };
        format!("{},{},{part},{}\n", cells[i], colours[i], ["u", "v"][i % 2])
    };
    let text = format!("x,colour,split,c\n{}", (0..8).map(row).collect::<String>());
    let table = of(&asked("c"), &text).unwrap();
    assert!(table.has_test_rows(), "the column called split says the parts");
    let TableParts { parts, reader, .. } = all(&table, 1);
    // The median of 1, 3, 5 and 100 is 4; with 4 in both empty cells, the mean is 117/6.
    let deviation =
        (([1.0, 4.0, 3.0, 4.0, 100.0, 5.0_f64]).iter().map(|x| (x - 19.5).powi(2)).sum::<f64>()
            / 6.0)
            .sqrt();
    let scaled = |x: f64| ((x - 19.5) / deviation) as f32;
    let near = |found: &[f32], expected: [f32; 4]| {
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5)
    };
    assert!(near(&parts[1].inputs, [scaled(4.0), 0.0, 0.0, 1.0]), "{:?}", parts[1].inputs);
    assert!(near(&parts[2].inputs, [scaled(7.0), 0.0, 1.0, 0.0]), "{:?}", parts[2].inputs);
    let read = |row: &str| reader.read(row).map(|windows| windows.inputs(0..1));
    assert!(near(&read(",none").unwrap(), [scaled(4.0), 1.0, 0.0, 0.0]));
    assert!(
        near(&read("7,blue,test").unwrap(), [scaled(7.0), 0.0, 1.0, 0.0]),
        "a row without its class"
    );
    assert!(near(&read("7,red,test,u").unwrap(), [scaled(7.0), 0.0, 0.0, 1.0]));
    assert!(
        read("7,green")
            .unwrap_err()
            .to_string()
            .contains("no row that was trained on has that text")
    );
    let notes = table.notes().join("\n");
    assert!(
        notes.contains("`x`: a number, 1 to 100; 3 empty cells are read as the median"),
        "{notes}"
    );
    assert!(notes.contains("`colour`: 3 texts, an input each: `blue`, `red`; 2 empty cells are read as one more text"), "{notes}");
}

#[test]
fn numbers_are_predicted_in_the_scale_of_the_rows_that_are_trained_on() {
    let row = |i: i32| format!("{};{},5\n", i * i % 17, 10 * i);
    let text = format!("x;price\n{}", (0..40).map(row).collect::<String>());
    let table = of(&asked("price"), &text).unwrap();
    assert_eq!(table.sizes(), [24, 8, 8]);
    let TableParts { parts, scale, .. } = all(&table, 3);
    let numbers = parts.each_ref().map(|part| part.numbers.clone().unwrap());
    let mean = numbers[0].iter().sum::<f32>() / 24.0;
    assert!(mean.abs() < 1e-5 && (parts[0].variance().unwrap() - 1.0).abs() < 1e-5);
    let scale = scale.unwrap();
    let mut values: Vec<f64> = numbers.concat().iter().map(|&n| scale.value(n.into())).collect();
    values.sort_by(f64::total_cmp);
    let expected = (0..40).map(|i| f64::from(10 * i) + 0.5);
    assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3), "{values:?}");
    assert_eq!(table.error_of_commonest(), None);
    assert!(
        table.summary().contains("`price` is the number to predict, 0.5 to 390.5"),
        "{}",
        table.summary()
    );
    assert!(table.summary().contains("separated by semicolons"));
}

#[test]
fn a_target_is_a_number_where_it_has_fractions_or_many_values() {
    let kind = |numbers, value: &dyn Fn(usize) -> String| {
        let text: String = (0..150).map(|i| format!("{},{}\n", i * i, value(i))).collect();
        of(&DataRequest { numbers, ..asked("c") }, &format!("x,c\n{text}"))
            .map(|table| table.target.classes())
    };
    assert_eq!(kind(None, &|i| (i % 20).to_string()).unwrap(), 20);
    assert_eq!(kind(None, &|i| (i % 21).to_string()).unwrap(), 1);
    assert_eq!(kind(None, &|i| format!("{}.5", i % 3)).unwrap(), 1);
    assert_eq!(kind(Some(true), &|i| (i % 2).to_string()).unwrap(), 1);
    assert_eq!(kind(Some(false), &|i| (i % 30).to_string()).unwrap(), 30);
    let said = kind(Some(false), &|i| format!("{}.5", i % 3)).unwrap_err().to_string();
    assert!(said.contains("is `0.5`: that is a quantity, and classes are asked for"), "{said}");
    let said = kind(Some(true), &|i| "ab"[i % 2..i % 2 + 1].to_owned()).unwrap_err().to_string();
    assert!(said.contains("a number is to be predicted, and it is none"), "{said}");
    // Classes that are numbers sort as numbers.
    let text: String = (0..40).map(|i| format!("{},{}.0\n", i * i, 9 + i % 2)).collect();
    let Target::Classes { names, .. } = of(&asked("c"), &format!("x,c\n{text}")).unwrap().target
    else {
        panic!("whole numbers are classes")
    };
    assert_eq!(names, ["9.0", "10.0"]);
}

#[test]
fn rows_without_a_target_are_left_out_and_said_to_be() {
    let text = rows(40, |i| (i * i).to_string()) + "7,\n8,NA\n";
    let table = of(&asked("c"), &text).unwrap();
    assert_eq!(table.rows(), 40);
    assert!(
        table.summary().contains("2 rows without a target are left out"),
        "{}",
        table.summary()
    );
    assert!(refused(&asked("c"), "x,c\n1,\n2,\n").contains("column `c` is empty"));
}

#[test]
fn what_says_nothing_is_left_out_and_what_a_person_has_to_decide_is_refused() {
    let column = |value: &dyn Fn(usize) -> String| {
        let text: String =
            (0..40).map(|i| format!("{},{},{}\n", value(i), i * i, ["a", "b"][i % 2])).collect();
        of(&asked("c"), &format!("x,y,c\n{text}"))
    };
    let why = |value: &dyn Fn(usize) -> String| {
        let table = column(value).unwrap();
        assert_eq!(table.width(), 1);
        table.lines().swap_remove(0)
    };
    assert!(why(&|i| (i + 7).to_string()).contains("left out: it counts the rows"));
    assert!(why(&|i| format!("2024-01-{:02}", 1 + i % 28)).contains("left out: it is dates"));
    assert!(why(&|i| format!("r{i}")).contains("left out: every row has another text"));
    assert!(why(&|_| "5".into()).contains("left out: it is the same in every row"));
    assert!(why(&|_| "".into()).contains("left out: it is empty"));
    let error = |value: &dyn Fn(usize) -> String| column(value).unwrap_err().to_string();
    assert!(error(&|i| format!("{i}%")).contains("column `x` is `0%`: it looks like a percentage"));
    assert!(error(&|i| format!("\"{},000\"", 1 + i)).contains("groups of digits"));
    let slip = error(&|i| if i == 9 { "1O".into() } else { (i * 3).to_string() });
    assert!(slip.contains("line 11: column `x` is `1O`: it is no finite number"), "{slip}");
    let table =
        column(&|i| if i % 3 == 0 { "unknown".into() } else { (i % 3).to_string() }).unwrap();
    assert_eq!(table.width(), 4, "three texts, two of which are numbers");
    let kept = DataRequest { keep: vec!["x".into()], ..asked("c") };
    assert_eq!(of(&kept, &rows(40, |i| i.to_string())).unwrap().width(), 1);
    let nothing = refused(&asked("c"), &rows(40, |i| i.to_string()));
    assert!(
        nothing.contains("no column is left as an input") && nothing.contains("it counts the rows"),
        "{nothing}"
    );
}

#[test]
fn what_a_person_should_know_is_warned_of() {
    let text: String = (0..60)
        .map(|i| {
            format!(
                "{i},{},{}\n",
                if i < 4 { 7 } else { i * i },
                match i {
                    0..3 => "rare",
                    3..18 => "enough",
                    _ => "common",
                }
            )
        })
        .collect();
    let table = of(&asked("c"), &format!("Id,x,c\n{text}")).unwrap();
    let [numbering, rare, twice] = &table.warnings[..] else { panic!("{:?}", table.warnings) };
    assert!(
        numbering.contains("column `Id` is left out, because it counts the rows; --keep Id"),
        "{numbering}"
    );
    assert!(rare.contains("1 class has fewer than 15 rows") && rare.contains("rare: 3"), "{rare}");
    // Four rows have the input 7; one of them has another class.
    assert!(twice.contains("2 rows repeat an earlier one (of 60)"), "{twice}");
    let split: String = (0..60)
        .map(|i| {
            format!(
                "{},{},{}\n",
                i % 25 * 3,
                if i % 4 == 0 { "test" } else { "train" },
                ["a", "b"][i % 2]
            )
        })
        .collect();
    let table = of(&asked("c"), &format!("x,set,c\n{split}")).unwrap();
    let leaked = table.warnings.iter().find(|warning| warning.contains("test rows")).unwrap();
    assert!(
        leaked.starts_with("15 of 15 test rows have the inputs of a row that is trained on"),
        "{leaked}"
    );
    let clean = of(&asked("c"), &rows(40, |i| (i * i).to_string())).unwrap();
    assert_eq!(clean.warnings, Vec::<String>::new());
}

#[test]
fn the_commonest_class_is_that_of_the_rows_that_are_trained_on() {
    let text: String =
        (0..50).map(|i| format!("{},{}\n", i * i, if i % 5 == 0 { "b" } else { "a" })).collect();
    let table = of(&asked("c"), &format!("x,c\n{text}")).unwrap();
    assert_eq!(table.error_of_commonest(), Some(("a".to_owned(), 0.2)));
    // The commonest class of the test rows is not that of the training rows.
    let split =
        "x,split,c\n1,train,a\n4,train,a\n9,train,b\n3,valid,a\n5,test,b\n6,test,b\n7,test,a\n";
    let (class, error) = of(&asked("c"), split).unwrap().error_of_commonest().unwrap();
    assert_eq!(class, "a");
    assert!((error - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn other_files_are_called_by_their_names() {
    let parse = |bytes: &[u8]| parse(&asked("c"), Path::new("t"), bytes).unwrap_err().to_string();
    for (bytes, what) in [
        (&b"PAR1\x15\x04\xff\xfe"[..], "is a Parquet file"),
        (&b"PK\x03\x04\xff\xfe"[..], "is a ZIP archive"),
        (&b"\x93NUMPY\x01\x00"[..], "is a NumPy array"),
        (&b"\xff\xfex\x00,\x00c\x00"[..], "is a text in UTF-16"),
    ] {
        let said = parse(bytes);
        assert!(said.contains(what) && !said.contains("not UTF-8"), "{said}");
    }
}

#[test]
fn extreme_columns_stay_finite() {
    let text = "x,y,c\n1e308,1,a\n-1e308,4,b\n1e308,5,a\n".to_owned()
        + &(0..20).map(|i| format!("0,{},b\n", i * i)).collect::<String>();
    let table = of(&asked("c"), &text).unwrap();
    for part in all(&table, 1).parts {
        assert!(part.inputs.iter().all(|number| number.is_finite()));
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_column() {
    let text = rows(20, |i| (i * i).to_string());
    let bad = |row: &str| refused(&asked("c"), &format!("{text}{row}\n"));
    assert!(bad("1").contains("line 22: 1 cells, where the first line has 2"), "{}", bad("1"));
    assert!(
        bad("one,a").contains("line 22: column `x` is `one`: it is no finite number"),
        "{}",
        bad("one,a")
    );
    assert!(bad("inf,a").contains("column `x` is `inf`"), "{}", bad("inf,a"));
    let unknown = refused(&asked("kind"), &text);
    assert!(
        unknown.contains("no column is called `kind`") && unknown.contains("there are: `x`, `c`"),
        "{unknown}"
    );
    let none = refused(&DataRequest::from("csv"), &text);
    assert!(none.contains("--target COLUMN") && none.contains("`x`, `c`"), "{none}");
    assert!(refused(&asked("c"), "x,c\n").contains("no row follows"));
    assert!(refused(&asked("c"), "x,x\n1,2\n").contains("two columns are called `x`"));
    assert!(
        refused(&asked("c"), "x,c\n1,a\n5,b\n9,a\n4,b\n").contains("there is no row to choose by")
    );
    assert!(
        refused(&asked("c"), &text.replace('b', "a")).contains("all examples are of one class")
    );
    let names: String = (0..600).map(|i| format!("{},n{}\n", i * i, i / 2)).collect();
    assert!(refused(&asked("c"), &format!("x,c\n{names}")).contains("there are 300 classes"));
    let single: String = (0..40).map(|i| format!("{},n{i}\n", i * i)).collect();
    let single = refused(&asked("c"), &format!("x,c\n{single}"));
    assert!(single.contains("that is the class of one row, as 40 of 40 classes are"), "{single}");
    let split = DataRequest { split: Some("x".into()), ..asked("c") };
    assert!(refused(&split, &text).contains("it has to be train, valid or test"));
    let untrained =
        "x,split,c\n1,train,a\n2,train,b\n3,valid,a\n4,test,z\n5,test,z\n6,train,a\n7,train,b\n";
    let said = refused(&asked("c"), untrained);
    assert!(
        said.contains("line 5: column `c` is `z`: no row of that class is trained on"),
        "{said}"
    );
    assert!(refused(&asked("c"), &format!("{text}a\u{1b}[2J,a\n")).contains("`a\\u{1b}[2J`"));
}

#[test]
fn a_folder_of_tables_is_read_file_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("plain.csv", &rows(30, |i| (i * i).to_string()));
    write(
        "first.tsv",
        &rows(30, |i| (i * i).to_string()).replace("x,c", "x,Class").replace(',', "\t"),
    );
    write(
        "named.csv",
        &format!(
            "who,x\n{}",
            (0..30).map(|i| format!("{},{}\n", ["a", "b"][i % 2], i * i)).collect::<String>()
        ),
    );
    write(
        "price.csv",
        &format!("x,y\n{}", (0..30).map(|i| format!("{},{i}.5\n", i * i)).collect::<String>()),
    );
    write("broken.csv", "x,c\n1\n");
    write("notes.txt", "no table");
    let targets = [("named".to_owned(), "who".to_owned())].into_iter().collect();
    let asked = DataRequest { targets, ..DataRequest::from("tables") };
    let set = read_folder(&asked, folder.path()).unwrap();
    let read: Vec<(&str, &str, usize)> =
        set.tables.iter().map(|t| (t.name.as_str(), t.target_name(), t.target.classes())).collect();
    assert_eq!(
        read,
        [("first", "Class", 2), ("named", "who", 2), ("plain", "c", 2), ("price", "y", 1)]
    );
    assert!(set.refused.len() == 1 && set.refused[0].contains("broken.csv"), "{:?}", set.refused);
    let before = set.source.fingerprint;
    write("plain.csv", &rows(30, |i| (i * i + 1).to_string()));
    assert_ne!(read_folder(&asked, folder.path()).unwrap().source.fingerprint, before);
    let empty = tempfile::tempdir().unwrap();
    assert!(
        read_folder(&asked, empty.path())
            .unwrap_err()
            .to_string()
            .contains("holds no file that ends in .csv")
    );
}

#[test]
fn columns_to_keep_and_to_ignore_are_looked_for_in_each_table_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let table = |column: &str| {
        let row = |i: usize| format!("{i},{},{}\n", i * i, ["a", "b"][i % 2]);
        format!("{column},x,c\n{}", (0..40).map(row).collect::<String>())
    };
    for column in ["id", "note", "row"] {
        std::fs::write(folder.path().join(format!("{column}.csv")), table(column)).unwrap();
    }
    let [keep, ignore] = ["id", "note"].map(|name| vec![name.to_owned()]);
    let asked = DataRequest { keep, ignore, ..DataRequest::from("tables") };
    let set = read_folder(&asked, folder.path()).unwrap();
    assert!(set.refused.is_empty(), "{:?}", set.refused);
    let widths: Vec<(&str, usize)> =
        set.tables.iter().map(|table| (table.name.as_str(), table.width())).collect();
    // A column that counts the rows is left out unless it is to be kept.
    assert_eq!(widths, [("id", 2), ("note", 1), ("row", 1)]);
}
