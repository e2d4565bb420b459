use super::{Array, Arrays, Prepared};
use crate::data::{DataSource, ImageSet, Images, WindowSet, Windows};
use std::collections::BTreeMap;
use std::sync::Arc;

const SOURCE: &str = "source";
const CLASSES: &str = "classes";

/// Without the place: whoever reads the set later has read it from another one, or may not be told.
fn texts(source: &DataSource, classes: usize) -> BTreeMap<String, String> {
    let source = DataSource { location: None, ..source.clone() };
    let source = serde_json::to_string(&source).expect("a source holds plain values alone");
    [(SOURCE.to_owned(), source), (CLASSES.to_owned(), classes.to_string())].into()
}

fn source(arrays: &Arrays<'_>) -> Option<(DataSource, usize)> {
    let source = serde_json::from_str(arrays.text(SOURCE)?).ok()?;
    Some((source, arrays.text(CLASSES)?.parse().ok()?))
}

impl Prepared for ImageSet {
    fn arrays(&self) -> Vec<(&'static str, Array<'_>)> {
        vec![
            ("train.pixels", Array::U8(&self.train.pixels)),
            ("train.labels", Array::U8(&self.train.labels)),
            ("test.pixels", Array::U8(&self.test.pixels)),
            ("test.labels", Array::U8(&self.test.labels)),
        ]
    }

    fn texts(&self) -> BTreeMap<String, String> {
        let mut texts = texts(&self.source, self.classes);
        let Images { channels, height, width, .. } = self.train;
        texts.insert("picture".to_owned(), format!("{channels} {height} {width}"));
        texts
    }

    fn from_arrays(arrays: &Arrays<'_>) -> Option<Self> {
        let (source, classes) = source(arrays)?;
        let sizes = arrays.text("picture")?.split(' ').map(str::parse);
        let [channels, height, width] = sizes.collect::<Result<Vec<usize>, _>>().ok()?[..] else {
            return None;
        };
        let images = |pixels: &str, labels: &str| {
            let (pixels, labels) = (arrays.u8(pixels)?, arrays.u8(labels)?);
            let images = Images { pixels, channels, height, width, labels };
            (images.pixels.len() == images.len() * images.features()).then_some(images)
        };
        let train = images("train.pixels", "train.labels")?;
        let test = images("test.pixels", "test.labels")?;
        Some(Self { train, test, classes, source })
    }
}

/// Names of the arrays of a part of a window set.
const PARTS: [[&str; 5]; 3] = [
    ["train.table", "train.shape", "train.rows", "train.labels", "train.groups"],
    ["valid.table", "valid.shape", "valid.rows", "valid.labels", "valid.groups"],
    ["test.table", "test.shape", "test.rows", "test.labels", "test.groups"],
];

impl Prepared for WindowSet {
    fn arrays(&self) -> Vec<(&'static str, Array<'_>)> {
        let count = |&count: &usize| count as u32;
        let mut arrays = Vec::new();
        for (names, part) in PARTS.iter().zip([&self.train, &self.validation, &self.test]) {
            let [table, shape, rows, labels, groups] = names;
            let sizes = [part.width(), part.window()];
            arrays.push((*table, Array::F32(part.table())));
            arrays.push((*shape, Array::U32(sizes.iter().map(count).collect())));
            arrays.push((*rows, Array::U32(part.rows().into())));
            arrays.push((*labels, Array::U8(part.labels())));
            arrays.push((*groups, Array::U32(part.group_ends().iter().map(count).collect())));
        }
        arrays
    }

    fn texts(&self) -> BTreeMap<String, String> {
        texts(&self.source, self.classes)
    }

    fn from_arrays(arrays: &Arrays<'_>) -> Option<Self> {
        let (source, classes) = source(arrays)?;
        let [train, validation, test] = PARTS.map(|names| part(arrays, names));
        Some(Self { train: train?, validation: validation?, test: test?, classes, source })
    }
}

fn part(arrays: &Arrays<'_>, [table, shape, rows, labels, groups]: [&str; 5]) -> Option<Windows> {
    let table: Arc<[f32]> = arrays.f32(table)?.into();
    let [width, window] = arrays.u32(shape)?[..] else { return None };
    let (width, window) = (width as usize, window as usize);
    if width == 0 || window == 0 || !table.len().is_multiple_of(width) {
        return None;
    }
    let (rows, labels) = (arrays.u32(rows)?, arrays.u8(labels)?);
    let mut windows = Windows::new(table, width, window).ok()?;
    let mut start = 0;
    for end in arrays.u32(groups)? {
        let end = end as usize;
        let chosen = rows.get(start * window..end * window)?;
        windows.push_group(chosen, labels.get(start..end)?);
        start = end;
    }
    (start == labels.len()).then_some(windows)
}

#[cfg(test)]
mod tests {
    use super::super::{Key, prepared_in};
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn windows_and_their_groups_are_read_back_equal() {
        let part = |first: f32| {
            let table: Vec<f32> = (0..8).map(|v| first + v as f32 / 3.0).collect();
            let mut windows = Windows::new(table.into(), 2, 3).unwrap();
            windows.push_group(&[0, 0, 1, 0, 1, 2], &[5, 6]);
            windows.push_group(&[], &[]);
            windows.push_group(&[3, 2, 1], &[7]);
            windows
        };
        let set = WindowSet {
            train: part(0.1),
            validation: part(-7.7),
            test: part(f32::MIN_POSITIVE),
            classes: 9,
            source: DataSource::new("x", Some("somewhere".into()), true, ["content"]),
        };
        let cache = tempfile::tempdir().unwrap();
        let key = Key::new("windows", 1);
        let get = |made: Option<WindowSet>| {
            prepared_in(cache.path(), &key, || Ok::<_, Infallible>(made.unwrap())).unwrap()
        };
        assert_eq!(get(Some(set.clone())), set);
        let mut set = set;
        set.source.location = None;
        assert_eq!(get(None), set, "all but the place, which is that of its first reader");
    }
}
