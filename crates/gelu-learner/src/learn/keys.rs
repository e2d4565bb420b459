use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Reads the terminal for Burn's display until it is dropped.
///
/// That display asks crossterm for keys with a timeout of 0. Where crossterm reads by `use-dev-tty`, as gelu-compare's
/// dashboard needs it to, the answer is always no (`while !leftover.is_zero()` in its `tty.rs`, 0.29), and the display
/// would ignore every key. A thread that asks with a longer timeout puts keys into crossterm's queue, where the display
/// finds them.
#[derive(Debug)]
pub(super) struct KeyReader {
    ended: Arc<AtomicBool>,
}

impl KeyReader {
    /// Starts to read. Without a thread, the display is without keys.
    pub(super) fn start() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let of_thread = ended.clone();
        let read = move || {
            // The lock on the queue is free most of the time.
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
