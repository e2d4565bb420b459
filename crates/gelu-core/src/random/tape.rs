//! Which keys a piece of a program draws.

use super::Key;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use burn_core::tensor::Device;
use core::cell::RefCell;

std::thread_local! {
    /// The last one is asked first.
    static TAPES: RefCell<Vec<Tape>> = const { RefCell::new(Vec::new()) };
}

enum Tape {
    Noting(Vec<Key>),
    Playing { keys: VecDeque<Key>, lacking: usize },
}

/// Puts a tape on for as long as it lives, and takes it off even by a panic.
struct On;

impl On {
    fn new(tape: Tape) -> Self {
        TAPES.with_borrow_mut(|tapes| tapes.push(tape));
        Self
    }

    fn off(self) -> Option<Tape> {
        core::mem::forget(self);
        TAPES.with_borrow_mut(Vec::pop)
    }
}

impl Drop for On {
    fn drop(&mut self) {
        TAPES.with_borrow_mut(Vec::pop);
    }
}

/// Runs `function`: what it returned, and the keys that this thread drew in it, in their order.
///
/// A step that has been recorded draws its masks from keys in fixed memory, and this says which keys it would have
/// drawn.
pub fn note_keys<T>(function: impl FnOnce() -> T) -> (T, Vec<Key>) {
    let on = On::new(Tape::Noting(Vec::new()));
    let result = function();
    match on.off() {
        Some(Tape::Noting(keys)) => (result, keys),
        _ => (result, Vec::new()),
    }
}

/// Runs `function`, in which [`Key::next`] gives this thread these keys, one after the other: what it returned, and how
/// many keys more it wanted (below 0: how many were left over). What is wanted beyond them is drawn as usual.
pub fn play_keys<T>(keys: Vec<Key>, function: impl FnOnce() -> T) -> (T, isize) {
    let on = On::new(Tape::Playing { keys: keys.into(), lacking: 0 });
    let result = function();
    match on.off() {
        Some(Tape::Playing { keys, lacking }) => (result, lacking as isize - keys.len() as isize),
        _ => (result, 0),
    }
}

/// The next key of the device, or of a tape.
pub(super) fn next(device: &Device) -> Key {
    let Some(tape) = TAPES.with_borrow_mut(Vec::pop) else { return Key::drawn(device) };
    let (key, tape) = match tape {
        Tape::Noting(mut keys) => {
            let key = next(device);
            keys.push(key.clone());
            (key, Tape::Noting(keys))
        }
        Tape::Playing { mut keys, lacking } => match keys.pop_front() {
            Some(key) => (key, Tape::Playing { keys, lacking }),
            None => (next(device), Tape::Playing { keys, lacking: lacking + 1 }),
        },
    };
    TAPES.with_borrow_mut(|tapes| tapes.push(tape));
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Draw;

    fn read(keys: &[Key]) -> Vec<Vec<i64>> {
        keys.iter().map(|key| key.words().into_data().iter::<i64>().collect()).collect()
    }

    /// Keys by name, since a device's generator is shared by all tests.
    #[test]
    fn noted_keys_are_those_that_were_drawn_and_can_be_played() {
        let device = Device::default();
        let draw = || Key::next(&device);
        let (drawn, noted) = note_keys(|| [(); 3].map(|()| draw()));
        assert_eq!(read(&noted), read(&drawn));
        let known = [1, 2, 3].map(|step| Key::known(Draw { seed: 7, step }, &device));
        let (played, lacking) = play_keys(known[..2].to_vec(), || [(); 2].map(|()| draw()));
        assert_eq!((read(&played), lacking), (read(&known[..2]), 0));
        assert_eq!(play_keys(known.to_vec(), draw).1, -2);
        // A tape within a tape draws from the outer one.
        let ((noted, more), lacking) = play_keys(known[1..].to_vec(), || {
            let (_, noted) = note_keys(draw);
            (noted, play_keys(Vec::new(), draw))
        });
        assert_eq!((read(&noted), read(&[more.0])), (read(&known[1..2]), read(&known[2..])));
        assert_eq!((more.1, lacking), (1, 0));
        // Taken off by a panic, too.
        let caught = std::panic::catch_unwind(|| play_keys(Vec::new(), || panic!("as a step may")));
        assert!(caught.is_err() && TAPES.with_borrow(Vec::is_empty));
    }
}
