use super::app::{Action, App, Mode, Request};
use super::clock::Clock;
use super::view::View;
use crate::runs::ComparisonSnapshot;
use crate::{Error, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the comparison is looked at.
const REFRESH: Duration = Duration::from_millis(250);
/// How long a key press waits at most.
const KEYS: Duration = Duration::from_millis(50);

/// How the dashboard ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All work is done.
    Finished,
    /// The user left, or a signal asked to.
    Quit,
}

/// Shows a comparison in the terminal until it is finished (when its runs are this program's) or
/// the user leaves. `source` gives the newest snapshot and whether all work is done; `request`
/// hears what the user asks for; `stop` makes it end from outside.
///
/// The terminal is restored however this ends, by a panic too.
///
/// # Errors
///
/// When the terminal cannot be used, or `source` fails.
pub fn run(
    mut source: impl FnMut() -> Result<(ComparisonSnapshot, bool)>,
    mut request: impl FnMut(Request),
    mode: Mode,
    stop: &AtomicBool,
) -> Result<Outcome> {
    let failed = Error::io("use", "the terminal");
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let outcome = show(&mut terminal, &mut source, &mut request, mode, stop);
    ratatui::restore();
    outcome
}

fn show(
    terminal: &mut DefaultTerminal,
    source: &mut dyn FnMut() -> Result<(ComparisonSnapshot, bool)>,
    request: &mut dyn FnMut(Request),
    mode: Mode,
    stop: &AtomicBool,
) -> Result<Outcome> {
    let (mut app, mut clock) = (App::new(mode), Clock::start());
    loop {
        let (snapshot, finished) = source()?;
        let refreshed = Instant::now();
        if finished && mode == Mode::Owning {
            return Ok(Outcome::Finished);
        }
        loop {
            if stop.load(Ordering::SeqCst) {
                return Ok(Outcome::Quit);
            }
            let view = View::of(&app, &snapshot, clock.read(&snapshot));
            let drawn = terminal.draw(|frame| view.render(frame));
            drawn.map_err(Error::io("draw on", "the terminal"))?;
            match wait_for_key(&mut app, &snapshot)? {
                Action::None => {}
                Action::Leave => return Ok(Outcome::Quit),
                Action::Ask(what) => {
                    request(what);
                    if what == Request::Quit {
                        return Ok(Outcome::Quit);
                    }
                }
            }
            if refreshed.elapsed() >= REFRESH {
                break;
            }
        }
    }
}

/// Waits a moment for a key, and takes all that were pressed.
fn wait_for_key(app: &mut App, snapshot: &ComparisonSnapshot) -> Result<Action> {
    let failed = || Error::io("read keys from", "the terminal");
    let mut patience = KEYS;
    while event::poll(patience).map_err(failed())? {
        patience = Duration::ZERO;
        let Event::Key(key) = event::read().map_err(failed())? else { continue };
        if key.kind == KeyEventKind::Press {
            let action = app.press(key, snapshot);
            if action != Action::None {
                return Ok(action);
            }
        }
    }
    Ok(Action::None)
}
