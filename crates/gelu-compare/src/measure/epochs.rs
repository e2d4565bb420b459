use super::EpochMetrics;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The finished epochs of a run. Copies share them until one copy is changed, because a comparison is read several
/// times per second and may have a million epochs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Epochs(Arc<Vec<EpochMetrics>>);

impl Deref for Epochs {
    type Target = Vec<EpochMetrics>;

    fn deref(&self) -> &Vec<EpochMetrics> {
        &self.0
    }
}

impl DerefMut for Epochs {
    fn deref_mut(&mut self) -> &mut Vec<EpochMetrics> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<EpochMetrics>> for Epochs {
    fn from(epochs: Vec<EpochMetrics>) -> Self {
        Self(Arc::new(epochs))
    }
}

impl FromIterator<EpochMetrics> for Epochs {
    fn from_iter<I: IntoIterator<Item = EpochMetrics>>(epochs: I) -> Self {
        Vec::from_iter(epochs).into()
    }
}

impl<'a> IntoIterator for &'a Epochs {
    type Item = &'a EpochMetrics;
    type IntoIter = std::slice::Iter<'a, EpochMetrics>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Epochs {
    type Item = &'a mut EpochMetrics;
    type IntoIter = std::slice::IterMut<'a, EpochMetrics>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_until_one_is_changed() {
        let epochs: Epochs = [1, 2].map(EpochMetrics::new).into_iter().collect();
        let mut copy = epochs.clone();
        assert!(std::ptr::eq(epochs.as_slice(), copy.as_slice()));
        copy.push(EpochMetrics::new(3));
        assert_eq!((epochs.len(), copy.len()), (2, 3));
    }
}
