use crate::kernels::blocks::PARALLEL_PRODUCT;
use gelu_kernels::threads::{self, Threads};
use std::ops::Range;

/// Channels of a part.
const CHANNELS: usize = 32;
/// As many parts as there should be for threads to share out, as long as each has some work.
const PARTS: usize = 16;

/// How threads share out the sums of a weight's gradient: by channels and by groups of pictures. Each has sums of
/// its own, and those of all groups are added up in their order, whatever the number of threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    channels: usize,
    pictures: usize,
    /// Of the channels.
    count: usize,
    pub(super) groups: usize,
    /// Of parts, for each group.
    shares: usize,
    threads: Threads,
}

impl Parts {
    /// Of so many channels and pictures, at least `least` of which are a group, on several threads if so many
    /// operations are worth them.
    pub(super) fn new(channels: usize, pictures: usize, least: usize, operations: usize) -> Self {
        let count = channels.div_ceil(CHANNELS).max(1);
        let groups = PARTS.div_ceil(count).min(pictures / least.max(1)).max(1);
        let threads = Threads::for_work(operations, PARALLEL_PRODUCT);
        // Who has several parts of a group's channels reads its gradients once: as few shares as all threads have
        // as much to do with.
        let even = |shares: &usize| {
            let (all, threads) = (shares * groups, threads.count());
            all.is_multiple_of(threads) || all >= 2 * threads
        };
        let shares = (1..count).find(even).unwrap_or(count);
        Self { channels, pictures, count, groups, shares, threads }
    }

    /// What `work` gives for the parts of each share and the pictures of each group: of one share after the other.
    pub(super) fn each<T: Send>(
        &self,
        work: impl Fn(Vec<Range<usize>>, Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        threads::map(self.shares * self.groups, self.threads, |index| {
            let parts = self.parts(index / self.groups).map(|part| self.part(part)).collect();
            work(parts, share(index % self.groups, self.groups, self.pictures))
        })
    }

    /// All channels of a share.
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

/// One of so many parts of `count`, as equal as they get.
fn share(index: usize, of: usize, count: usize) -> Range<usize> {
    index * count / of..(index + 1) * count / of
}
