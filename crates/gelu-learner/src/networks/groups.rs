use serde::{Deserialize, Serialize};

/// The groups of a test set, in its order: examples that were sampled together, such as a single image, all words of
/// a tweet, or all frames of a recording. The examples of a group are neighbours, and no group is empty.
///
/// The serialized form is pairs of a size and the number of consecutive groups of this size: `[[1, 10000]]` means ten
/// thousand images.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<[usize; 2]>", into = "Vec<[usize; 2]>")]
pub struct TestGroups {
    /// Pairs of a size above 0 and the number of consecutive groups of this size; neighbouring pairs have different
    /// sizes.
    rows: Vec<[usize; 2]>,
    groups: usize,
    examples: usize,
}

impl TestGroups {
    /// Creates groups of one example each.
    pub fn singles(examples: usize) -> Self {
        let mut groups = Self::default();
        groups.push([1, examples]).expect("no more examples than there are");
        groups
    }

    /// Creates groups of these sizes; sizes of 0 are left out.
    pub fn of_sizes(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut groups = Self::default();
        for size in sizes.into_iter().filter(|&size| size > 0) {
            groups.push([size, 1]).expect("no more examples than memory holds");
        }
        groups
    }

    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.groups
    }

    /// Returns whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// Returns the number of examples in all groups.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// Returns the number of examples in each group.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().flat_map(|&[size, count]| std::iter::repeat_n(size, count))
    }

    fn push(&mut self, [size, count]: [usize; 2]) -> Result<(), String> {
        let examples =
            size.checked_mul(count).and_then(|examples| self.examples.checked_add(examples));
        let examples = examples.ok_or("groups have more examples than can be counted")?;
        match self.rows.last_mut() {
            _ if count == 0 => {}
            Some(last) if last[0] == size => last[1] += count,
            _ => self.rows.push([size, count]),
        }
        (self.examples, self.groups) = (examples, self.groups + count);
        Ok(())
    }
}

impl TryFrom<Vec<[usize; 2]>> for TestGroups {
    type Error = String;

    fn try_from(rows: Vec<[usize; 2]>) -> Result<Self, String> {
        let mut groups = Self::default();
        for row in rows {
            if row[0] == 0 {
                return Err("a group has no example".to_owned());
            }
            groups.push(row)?;
        }
        Ok(groups)
    }
}

impl From<TestGroups> for Vec<[usize; 2]> {
    fn from(groups: TestGroups) -> Self {
        groups.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TestGroups, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn equal_neighbours_are_counted_and_empty_groups_left_out() {
        let groups = TestGroups::of_sizes([3, 3, 0, 1, 2, 2, 2, 0]);
        assert_eq!((groups.len(), groups.examples()), (6, 13));
        assert_eq!(groups.sizes().collect::<Vec<_>>(), [3, 3, 1, 2, 2, 2]);
        assert_eq!(serde_json::to_string(&groups).unwrap(), "[[3,2],[1,1],[2,3]]");
        assert_eq!(TestGroups::of_sizes([1; 40]), TestGroups::singles(40));
        assert!(TestGroups::singles(0).is_empty() && TestGroups::singles(0).sizes().count() == 0);
    }

    #[test]
    fn groups_are_read_back_equal_however_they_were_written() {
        let groups = TestGroups::of_sizes([5, 5, 4, 5]);
        assert_eq!(read(&serde_json::to_string(&groups).unwrap()).unwrap(), groups);
        assert_eq!(read("[[5,1],[9,0],[5,1],[4,1],[5,1]]").unwrap(), groups);
    }

    #[test]
    fn numbers_that_are_no_groups_are_refused() {
        assert!(read("[[0,7]]").unwrap_err().contains("a group has no example"));
        let huge = usize::MAX;
        for text in [format!("[[{huge},2]]"), format!("[[1,{huge}],[1,1]]"), "[[1]]".to_owned()] {
            assert!(read(&text).is_err(), "{text}");
        }
        // The groups are only counted, not stored one by one.
        assert_eq!(read(&format!("[[1,{huge}]]")).unwrap().examples(), huge);
    }
}
