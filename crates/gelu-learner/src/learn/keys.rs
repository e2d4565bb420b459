use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Reads keys from the terminal for Burn's display until it is dropped.
///
/// Burn's display asks crossterm for keys with a timeout of 0. With the feature `use-dev-tty`, which gelu-compare's
/// dashboard needs, crossterm never reports a key for that timeout (`while !leftover.is_zero()` in `tty.rs`,
/// crossterm 0.29), and the display would ignore every key. This reader's thread polls with a longer timeout and so
/// puts keys into crossterm's queue, where the display finds them.
#[derive(Debug)]
pub(super) struct KeyReader {
    ended: Arc<AtomicBool>,
}

impl KeyReader {
    /// Starts reading. If the thread cannot start, the display ignores keys.
    pub(super) fn start() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let of_thread = ended.clone();
        let read = move || {
            // The pause leaves the lock on the queue free most of the time.
            while !of_thread.load(Ordering::Relaxed)
                && crossterm::event::poll(Duration::from_millis(1)).is_ok()
            {
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        let _ = std::thread::Builder::new().name("keys".to_owned()).spawn(read);
        Self { ended }
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}
