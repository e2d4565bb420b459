//! Waiting without sleeping, which gives up more and more of the core.

#[cfg(all(test, gelu_model))]
pub(super) struct Wait;

#[cfg(all(test, gelu_model))]
impl Wait {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn time(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    pub(super) fn pause(&mut self) {
        loom::thread::yield_now();
    }
}

#[cfg(not(all(test, gelu_model)))]
pub(super) use timed::Wait;

#[cfg(not(all(test, gelu_model)))]
mod timed {
    use std::thread;
    use std::time::{Duration, Instant};

    /// How long a thread waits before it yields its core to other threads.
    const HOLD: Duration = Duration::from_micros(50);

    pub(crate) struct Wait(Instant);

    impl Wait {
        pub(crate) fn new() -> Self {
            Self(Instant::now())
        }

        /// Returns how long the thread has waited.
        pub(crate) fn time(&self) -> Duration {
            self.0.elapsed()
        }

        pub(crate) fn pause(&mut self) {
            if self.time() > HOLD {
                thread::yield_now();
            } else {
                (0..16).for_each(|_| std::hint::spin_loop());
            }
        }
    }
}
