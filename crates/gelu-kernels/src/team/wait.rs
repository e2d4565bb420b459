//! Waiting without sleep, for less and less of a core.

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

    /// How long a thread waits without giving way to others that want its core.
    const HOLD: Duration = Duration::from_micros(50);

    pub(crate) struct Wait(Instant);

    impl Wait {
        pub(crate) fn new() -> Self {
            Self(Instant::now())
        }

        /// How long it has waited.
        pub(crate) fn time(&self) -> Duration {
            self.0.elapsed()
        }

        /// Waits a moment.
        pub(crate) fn pause(&mut self) {
            if self.time() > HOLD {
                thread::yield_now();
            } else {
                (0..16).for_each(|_| std::hint::spin_loop());
            }
        }
    }
}
