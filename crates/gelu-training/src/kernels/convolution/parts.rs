use crate::kernels::blocks::PARALLEL_PRODUCT;
use gelu_kernels::threads::{self, Threads};
use std::ops::Range;

/// The number of channels in a part.
const CHANNELS: usize = 32;
/// The number of parts that threads can share evenly, if each part has some work.
const PARTS: usize = 16;

/// The division of the sums of a weight's gradient between threads: by channels and by groups of images. Each
/// group has sums of its own. The sums of all groups are added in the same order for any number of threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    channels: usize,
    pictures: usize,
    /// The number of parts that the channels are divided into.
    count: usize,
    pub(super) groups: usize,
    /// The number of shares per group; a share is one or more parts.
    shares: usize,
    threads: Threads,
}

impl Parts {
    /// Divides `channels` channels and `pictures` images, with at least `least` images per group. Uses several
    /// threads if that pays off for this many operations.
    pub(super) fn new(channels: usize, pictures: usize, least: usize, operations: usize) -> Self {
        let count = channels.div_ceil(CHANNELS).max(1);
        let groups = PARTS.div_ceil(count).min(pictures / least.max(1)).max(1);
        let threads = Threads::for_work(operations, PARALLEL_PRODUCT);
        // A thread with several parts of a group's channels reads the group's gradients only once. So there are as
        // few shares as keep all threads equally busy.
        let even = |shares: &usize| {
            let (all, threads) = (shares * groups, threads.count());
            all.is_multiple_of(threads) || all >= 2 * threads
        };
        let shares = (1..count).find(even).unwrap_or(count);
        Self { channels, pictures, count, groups, shares, threads }
    }

    /// Returns the results of `work` for the parts of each share and the images of each group, one share after the
    /// other.
    pub(super) fn each<T: Send>(
        &self,
        work: impl Fn(Vec<Range<usize>>, Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        threads::map(self.shares * self.groups, self.threads, |index| {
            let parts = self.parts(index / self.groups).map(|part| self.part(part)).collect();
            work(parts, share(index % self.groups, self.groups, self.pictures))
        })
    }

    /// Returns all channels of a share.
    pub(super) fn channels(&self, share: usize) -> Range<usize> {
        let parts = self.parts(share);
        self.part(parts.start).start..self.part(parts.end - 1).end
    }

    fn parts(&self, index: usize) -> Range<usize> {
        share(index, self.shares, self.count)
    }

    fn part(&self, index: usize) -> Range<usize> {
        share(index, self.count, self.channels)
    }
}

/// Returns one of `of` nearly equal parts of `count`.
fn share(index: usize, of: usize, count: usize) -> Range<usize> {
    index * count / of..(index + 1) * count / of
}
