use super::app::{Action, App, Mode, Request};
use super::clock::Clock;
use super::keys::Keys;
use super::view::View;
use crate::runs::Snapshot;
use crate::signals::Signals;
use crate::{Error, Result};
use ratatui::DefaultTerminal;
use std::time::{Duration, Instant};

/// The shortest time between two readings of the comparison.
const REFRESH: Duration = Duration::from_millis(250);
/// With many runs a reading takes long: between two of them, this process rests this many times as long.
const REST: u32 = 9;
/// The longest time between two readings of the comparison.
const LONGEST: Duration = Duration::from_secs(5);

/// The reason why the dashboard ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All work is done.
    Finished,
    /// The user left, or a signal asked the dashboard to end.
    Quit,
    /// The terminal is gone.
    HungUp,
}

/// Shows a comparison in the terminal until the user leaves or, if this program owns the workers, until all work is
/// done. `source` returns the newest snapshot and whether all work is done. `request` is called with each request
/// that the user makes by a key or by a signal.
///
/// Restores the terminal however this function ends, even by a panic.
///
/// # Errors
///
/// Returns an error if the terminal cannot be used, or if `source` fails.
pub fn run(
    mut source: impl FnMut() -> Result<(Snapshot, bool)>,
    mut request: impl FnMut(Request),
    mode: Mode,
    signals: &Signals,
) -> Result<Outcome> {
    let failed = Error::io("use", "the terminal");
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let mut keys = Keys::new()?;
    let mut app = App::new(mode);
    let outcome = show(&mut terminal, &mut keys, &mut app, &mut source, &mut request, signals);
    // A terminal that is gone cannot be restored, and need not be. When Ratatui's terminal is dropped, it would
    // complain on that terminal and panic.
    match outcome {
        Ok(Outcome::HungUp) => std::mem::forget(terminal),
        _ => drop(ratatui::try_restore()),
    }
    outcome
}

fn show(
    terminal: &mut DefaultTerminal,
    keys: &mut Keys,
    app: &mut App,
    source: &mut dyn FnMut() -> Result<(Snapshot, bool)>,
    request: &mut dyn FnMut(Request),
    signals: &Signals,
) -> Result<Outcome> {
    let (mut clock, mut heard) = (Clock::start(), 0);
    let began = Instant::now();
    let (mut snapshot, mut finished) = source()?;
    let mut view = View::of(app, &snapshot, clock.read(&snapshot));
    let mut shown = app.clone();
    let mut pause = (began.elapsed() * REST).clamp(REFRESH, LONGEST);
    loop {
        let (refreshed, mut drawn) = (Instant::now(), false);
        if finished && app.mode == Mode::Owning {
            return Ok(Outcome::Finished);
        }
        loop {
            if signals.hung_up() || keys.hung_up() {
                return Ok(Outcome::HungUp);
            }
            let mut action = Action::None;
            if signals.requests() > heard {
                heard = signals.requests();
                action = app.interrupt();
            }
            // With many runs, a view is expensive. It is computed only when something is new.
            if shown != *app {
                view = View::of(app, &snapshot, clock.read(&snapshot));
                (shown, drawn) = (app.clone(), false);
            }
            // An error means that the terminal can no longer be used, so it counts as gone.
            if !drawn && terminal.draw(|frame| view.render(frame)).is_err() {
                return Ok(Outcome::HungUp);
            }
            drawn = true;
            if action == Action::None {
                match keys.wait(|key| app.press(key, &snapshot)) {
                    Ok(pressed) => action = pressed,
                    Err(_) => return Ok(Outcome::HungUp),
                }
            }
            match action {
                Action::None => {}
                Action::Redraw => drawn = false,
                Action::Leave => return Ok(Outcome::Quit),
                Action::Ask(what) => {
                    request(what);
                    if what == Request::Quit {
                        return Ok(Outcome::Quit);
                    }
                }
            }
            if refreshed.elapsed() >= pause {
                break;
            }
        }
        let began = Instant::now();
        let (newer, now_finished) = source()?;
        if newer != snapshot || shown != *app {
            (snapshot, shown) = (newer, app.clone());
            view = View::of(app, &snapshot, clock.read(&snapshot));
        }
        (finished, view.reading) = (now_finished, clock.read(&snapshot));
        pause = (began.elapsed() * REST).clamp(REFRESH, LONGEST);
    }
}
