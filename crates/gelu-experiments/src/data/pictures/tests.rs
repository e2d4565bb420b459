use super::*;
use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage};
use std::fs;
use std::io::Cursor;

fn save(path: &Path, picture: &DynamicImage) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    picture.save(path).unwrap();
}

fn grey(width: u32, height: u32, value: u8) -> DynamicImage {
    GrayImage::from_pixel(width, height, Luma([value])).into()
}

fn read(root: &Path, size: Option<usize>) -> Result<ImageSet> {
    Folders::find(root)?.read(size)
}

fn refused(root: &Path, size: Option<usize>) -> String {
    read(root, size).unwrap_err().to_string()
}

#[test]
fn classes_are_folders_and_a_fifth_of_each_is_tested_on() {
    let folder = tempfile::tempdir().unwrap();
    for (class, count, value) in [("b", 10, 50), ("a", 4, 10)] {
        for index in 0..count {
            save(
                &folder.path().join(class).join(format!("{index}.png")),
                &grey(5, 3, value + index),
            );
        }
    }
    let set = read(folder.path(), None).unwrap();
    assert_eq!((set.train.channels, set.train.height, set.train.width, set.classes), (1, 3, 5, 2));
    assert_eq!((set.train.len(), set.test.len()), (11, 3));
    let mut values = Vec::new();
    for part in [&set.train, &set.test] {
        for (picture, &label) in part.pixels.chunks(15).zip(&part.labels) {
            assert_eq!(label == 0, picture[0] < 50, "a comes before b");
            values.push(picture[0]);
        }
    }
    values.sort_unstable();
    assert_eq!(values, (10..14).chain(50..60).collect::<Vec<u8>>(), "each is in one part");
    assert_eq!(set, read(folder.path(), None).unwrap());
}

#[test]
fn parts_are_folders_too_and_one_coloured_picture_makes_all_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    save(&at("train/a/1.png"), &grey(2, 2, 7));
    save(&at("train/b/1.png"), &RgbImage::from_pixel(2, 2, Rgb([1, 2, 3])).into());
    save(&at("test/a/1.png"), &grey(2, 2, 9));
    let set = read(folder.path(), None).unwrap();
    let expected: [&[u8]; 2] = [&[7; 12], &[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]];
    for (picture, &label) in set.train.pixels.chunks(12).zip(&set.train.labels) {
        assert_eq!(picture, expected[usize::from(label)]);
    }
    assert_eq!(set.test.pixels, [9; 12]);
    assert_eq!(set.source.name, name_of(folder.path()));

    fs::create_dir(at("more")).unwrap();
    assert!(refused(folder.path(), None).contains("more: is no part of the data"));
}

#[test]
fn a_folder_to_validate_on_stands_behind_those_to_train_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (part, values) in [("Train", [1, 2]), ("VAL", [3, 4]), ("testing", [5, 6])] {
        for (class, value) in ["a", "b"].into_iter().zip(values) {
            save(&at(&format!("{part}/{class}/1.png")), &grey(1, 1, value));
        }
    }
    let folders = Folders::find(folder.path()).unwrap();
    assert_eq!((folders.set_aside, folders.training()), (2, 4));
    assert_eq!(folders.notes, ["`VAL` chooses and `testing` is tested on"]);
    let set = folders.read(None).unwrap();
    let sorted = |pixels: &[u8]| {
        let mut pixels = pixels.to_vec();
        pixels.sort_unstable();
        pixels
    };
    assert_eq!([sorted(&set.train.pixels[..2]), sorted(&set.train.pixels[2..])], [[1, 2], [3, 4]]);
    assert_eq!(sorted(&set.test.pixels), [5, 6]);
    // A single folder next to the training folder is the test set.
    fs::remove_dir_all(at("testing")).unwrap();
    let folders = Folders::find(folder.path()).unwrap();
    assert_eq!((folders.set_aside, folders.notes), (0, vec!["`VAL` is tested on".to_owned()]));
    fs::create_dir_all(at("valid/a")).unwrap();
    assert!(refused(folder.path(), None).contains("VAL and valid are two folders of one part"));
}

#[test]
fn small_pictures_of_one_size_need_no_scaling() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (place, value) in [("a/1", 1), ("a/2", 2), ("b/1", 3), ("b/2", 4)] {
        save(&at(&format!("{place}.png")), &grey(20, 12, value));
    }
    let suggested = || Folders::find(folder.path()).unwrap().suggested_size().unwrap();
    assert_eq!(suggested(), None);
    save(&at("b/3.png"), &grey(12, 20, 9));
    assert_eq!(suggested(), Some(SCALED));
}

#[test]
fn the_middle_of_a_picture_is_scaled() {
    let folder = tempfile::tempdir().unwrap();
    let stripes = |grey: u8| {
        GrayImage::from_fn(8, 4, |x, _| Luma([if (2..6).contains(&x) { grey } else { 0 }]))
    };
    for (class, greys) in [("a", [198, 199]), ("b", [201, 202])] {
        for grey in greys {
            save(&folder.path().join(class).join(format!("{grey}.png")), &stripes(grey).into());
        }
    }
    save(&folder.path().join("a/large.jpg"), &grey(30, 20, 200));
    assert!(refused(folder.path(), None).contains("`size = N`"));
    let set = read(folder.path(), Some(2)).unwrap();
    assert_eq!((set.train.height, set.train.width), (2, 2));
    assert!(
        set.train.pixels.iter().all(|&pixel| pixel.abs_diff(200) <= 4),
        "{:?}",
        set.train.pixels
    );
}

#[test]
fn what_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(refused(&at("nowhere"), None).contains("nowhere: there is no such folder"));
    assert!(refused(folder.path(), None).contains("holds no folder"));
    save(&at("a/1.png"), &grey(2, 2, 7));
    assert!(refused(folder.path(), None).contains("all examples are of one class"));
    fs::create_dir(at("b")).unwrap();
    assert!(refused(folder.path(), None).contains("b: holds no image"));
    save(&at("b/1.png"), &grey(2, 2, 8));
    assert!(refused(folder.path(), None).contains("a: holds one image"));
    save(&at("a/2.png"), &grey(2, 2, 9));
    save(&at("b/2.png"), &grey(2, 2, 10));
    fs::write(at("b/notes.txt"), "mine").unwrap();
    assert!(refused(folder.path(), None).contains("notes.txt: is neither .png"));
    fs::remove_file(at("b/notes.txt")).unwrap();
    let mut jpeg = Vec::new();
    grey(2, 2, 99).write_to(&mut Cursor::new(&mut jpeg), ImageFormat::Jpeg).unwrap();
    fs::write(at("b/2.png"), &jpeg).unwrap();
    assert!(read(folder.path(), None).is_ok(), "what a file is goes by its content");
    fs::write(at("b/2.png"), &jpeg[..jpeg.len() / 3]).unwrap();
    assert!(refused(folder.path(), None).contains("2.png: no PNG or JPEG can be read"));
}

#[test]
fn pictures_that_would_be_left_out_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (place, value) in [("a/1", 1), ("a/2", 2), ("b/1", 3), ("b/2", 4)] {
        save(&at(&format!("{place}.png")), &grey(2, 2, value));
    }
    fs::write(at("README.md"), "mine").unwrap();
    read(folder.path(), None).unwrap();
    save(&at("a/more/3.png"), &grey(2, 2, 5));
    let said = refused(folder.path(), None);
    assert!(said.contains("more: is a folder in that of a class"), "{said}");
    fs::remove_dir_all(at("a/more")).unwrap();
    save(&at("3.png"), &grey(2, 2, 5));
    let said = refused(folder.path(), None);
    assert!(said.contains("3.png: lies outside the folders"), "{said}");
    let parts = tempfile::tempdir().unwrap();
    let at = |name: &str| parts.path().join(name);
    for (place, value) in [("train/a/1", 1), ("train/b/1", 3), ("test/a/2", 4)] {
        save(&at(&format!("{place}.png")), &grey(2, 2, value));
    }
    read(parts.path(), None).unwrap();
    save(&at("test/9.png"), &grey(2, 2, 5));
    assert!(refused(parts.path(), None).contains("9.png: lies outside"));
}

#[test]
fn parts_without_one_to_train_on_are_no_classes() {
    for names in [["val", "test"], ["train", "tulips"]] {
        let folder = tempfile::tempdir().unwrap();
        for (part, name) in names.into_iter().enumerate() {
            for index in 0..2 {
                let path = folder.path().join(name).join(format!("a/{index}.png"));
                save(&path, &grey(2, 2, (2 * part + index) as u8));
            }
        }
        let said = refused(folder.path(), None);
        assert!(said.contains("would be read as classes") && said.contains(names[0]), "{said}");
    }
    // Classes may have names of splits.
    let folder = tempfile::tempdir().unwrap();
    for (index, name) in ["dev", "ops", "dev", "ops"].into_iter().enumerate() {
        save(&folder.path().join(name).join(format!("{index}.png")), &grey(2, 2, index as u8));
    }
    read(folder.path(), None).unwrap();
}

#[test]
fn a_test_picture_is_no_training_picture() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (place, value) in [("train/a/1", 1), ("train/b/1", 3), ("test/a/2", 4), ("test/b/x", 3)] {
        save(&at(&format!("{place}.png")), &grey(2, 2, value));
    }
    let said = refused(folder.path(), None);
    assert!(said.contains("x.png: is the same image as ") && said.contains("1.png"), "{said}");
    assert!(said.contains("there are 1 such test images"), "{said}");
}
