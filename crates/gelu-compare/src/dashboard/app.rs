use crate::extension::{DashboardBars, extensions};
use crate::runs::{Quantity, Snapshot};
use crate::setting::Setting;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The relation between the dashboard and the runs that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The runs of this program. Leaving the dashboard ends them, and the dashboard ends when all work is done.
    Owning,
    /// Runs of another process, or finished ones. Leaving the dashboard changes nothing.
    Watching,
}

/// A request to the code that runs the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// End after the current epochs, which are saved.
    StopAfterEpoch,
    /// End now; the current epochs are lost.
    Quit,
}

/// A box on top of everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Popup {
    Help,
    ConfirmStop,
    ConfirmQuit,
}

/// The result of a key press or of a change of the window's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    None,
    Redraw,
    Ask(Request),
    Leave,
}

/// The dashboard's state: what the user has chosen to see.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct App {
    pub(super) mode: Mode,
    pub(super) popup: Option<Popup>,
    pub(super) logarithmic: bool,
    /// The number of last epochs to show; `None` for all.
    pub(super) window: Option<usize>,
    pub(super) stopping: bool,
    /// Whether verdicts are shown instead of the curves.
    pub(super) verdicts: bool,
    /// The index of the table of bars that is shown instead of the curves.
    pub(super) bars: Option<usize>,
    tab: usize,
    context: usize,
    /// The index of a tuned setting; `None` for each arm's best.
    tuned: Option<usize>,
}

impl App {
    pub(super) fn new(mode: Mode) -> Self {
        Self {
            mode,
            popup: None,
            logarithmic: false,
            window: None,
            stopping: false,
            verdicts: false,
            bars: None,
            tab: 0,
            context: 0,
            tuned: None,
        }
    }

    /// Returns the quantities that have a tab: all that were measured, the figure's quantity first.
    pub(super) fn tabs(snapshot: &Snapshot) -> Vec<Quantity> {
        let first = snapshot.design.figure.quantity.as_str();
        let mut all = snapshot.quantities();
        all.sort_by_key(|quantity| quantity.name != first);
        if all.is_empty() {
            let name =
                if first.is_empty() { snapshot.primary().quantity } else { first.to_owned() };
            all.push(Quantity { name, on: [None, None, None] });
        }
        all
    }

    /// Returns the quantity that is shown.
    pub(super) fn quantity(&self, snapshot: &Snapshot) -> Quantity {
        let mut tabs = Self::tabs(snapshot);
        tabs.swap_remove(self.tab % tabs.len())
    }

    /// Returns the context that is shown; `None` in a comparison without runs.
    pub(super) fn context(&self, snapshot: &Snapshot) -> Option<Setting> {
        pick(&snapshot.contexts(), self.context)
    }

    /// Returns the tuned setting that is shown; `None` for each arm's best.
    pub(super) fn tuned(&self, snapshot: &Snapshot) -> Option<Setting> {
        self.tuned.and_then(|index| pick(&snapshot.tuned(), index))
    }

    pub(super) fn press(&mut self, key: KeyEvent, snapshot: &Snapshot) -> Action {
        // Ctrl-D does not count, because some terminals type it when their window is closed.
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let interrupt = control && key.code == KeyCode::Char('c');
        match (self.popup, interrupt) {
            (_, true) => self.interrupt(),
            (Some(popup), false) => self.answer(popup, key.code),
            (None, false) => self.choose(key.code, snapshot),
        }
    }

    /// Handles Ctrl-C or a signal: the first one asks to finish the current epochs, the second one to end now.
    pub(super) fn interrupt(&mut self) -> Action {
        self.popup = None;
        match (self.leaves_at_once(), self.stopping) {
            (true, _) => Action::Leave,
            (false, true) => Action::Ask(Request::Quit),
            (false, false) => {
                self.stopping = true;
                Action::Ask(Request::StopAfterEpoch)
            }
        }
    }

    fn leaves_at_once(&self) -> bool {
        self.mode == Mode::Watching
    }

    fn open(&mut self, popup: Popup) -> Action {
        self.popup = Some(popup);
        Action::None
    }

    fn answer(&mut self, popup: Popup, key: KeyCode) -> Action {
        let agreed = matches!(key, KeyCode::Char('y' | 'Y') | KeyCode::Enter);
        self.popup = None;
        match popup {
            Popup::ConfirmStop if agreed => {
                self.stopping = true;
                Action::Ask(Request::StopAfterEpoch)
            }
            Popup::ConfirmQuit if agreed => Action::Ask(Request::Quit),
            _ => Action::None,
        }
    }

    fn choose(&mut self, key: KeyCode, snapshot: &Snapshot) -> Action {
        let tabs = Self::tabs(snapshot).len();
        match key {
            KeyCode::Right | KeyCode::Tab => self.tab = (self.tab + 1) % tabs,
            KeyCode::Left | KeyCode::BackTab => self.tab = (self.tab + tabs - 1) % tabs,
            KeyCode::Char('d') => {
                self.context = (self.context + 1) % snapshot.contexts().len().max(1);
            }
            KeyCode::Char('r') => {
                let next = self.tuned.map_or(0, |index| index + 1);
                self.tuned = (next < snapshot.tuned().len()).then_some(next);
            }
            KeyCode::Char('v') => (self.verdicts, self.bars) = (!self.verdicts, None),
            KeyCode::Char('p') => {
                (self.verdicts, self.bars) = (false, self.next_bars(snapshot));
            }
            KeyCode::Char('l') => self.logarithmic = !self.logarithmic,
            KeyCode::Char('+' | '=') | KeyCode::Up => self.window = Some(self.zoomed_in(snapshot)),
            KeyCode::Char('-') | KeyCode::Down => self.window = self.zoomed_out(snapshot),
            KeyCode::Char('z') => self.window = None,
            KeyCode::Char('h' | '?') => return self.open(Popup::Help),
            KeyCode::Char('s') if self.mode == Mode::Owning => {
                return self.open(Popup::ConfirmStop);
            }
            KeyCode::Char('q') | KeyCode::Esc if self.leaves_at_once() => return Action::Leave,
            KeyCode::Char('q') => return self.open(Popup::ConfirmQuit),
            _ => {}
        }
        Action::None
    }

    /// Returns the tables of bars for the runs that are shown.
    pub(super) fn bars_of(&self, snapshot: &Snapshot) -> Option<DashboardBars> {
        let context = self.context(snapshot);
        extensions().iter().find_map(|by| by.bars(snapshot, context.as_ref()))
    }

    /// Returns the index of the table of bars to show next; `None` after the last.
    fn next_bars(&self, snapshot: &Snapshot) -> Option<usize> {
        let next = self.bars.map_or(0, |shown| shown + 1);
        let count = self.bars_of(snapshot).map_or(0, |bars| bars.tables.len());
        (next < count).then_some(next)
    }

    fn zoomed_in(&self, snapshot: &Snapshot) -> usize {
        (self.window.unwrap_or_else(|| longest(snapshot)) / 2).max(2)
    }

    fn zoomed_out(&self, snapshot: &Snapshot) -> Option<usize> {
        self.window.map(|window| window * 2).filter(|&window| window < longest(snapshot))
    }
}

fn pick(settings: &[Setting], index: usize) -> Option<Setting> {
    settings.get(index % settings.len().max(1)).cloned()
}

fn longest(snapshot: &Snapshot) -> usize {
    snapshot.runs.iter().map(|run| run.epochs.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::{BarTable, Extras};
    use crate::testing::{example, without_epochs};

    fn press(app: &mut App, keys: &str) -> Vec<Action> {
        let snapshot = example();
        let event = |key| KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE);
        keys.chars().map(|key| app.press(event(key), &snapshot)).collect()
    }

    #[test]
    fn quitting_ones_own_runs_is_confirmed_and_watching_just_ends() {
        let mut app = App::new(Mode::Owning);
        assert_eq!(press(&mut app, "qn"), [Action::None, Action::None]);
        assert_eq!(press(&mut app, "qy")[1], Action::Ask(Request::Quit));
        assert_eq!(press(&mut App::new(Mode::Watching), "q"), [Action::Leave]);
    }

    #[test]
    fn control_c_finishes_the_epoch_and_ends_at_once_the_second_time() {
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        let mut app = App::new(Mode::Owning);
        assert_eq!(app.press(control_c, &example()), Action::Ask(Request::StopAfterEpoch));
        assert!(app.stopping);
        assert_eq!(app.press(control_c, &example()), Action::Ask(Request::Quit));
        let mut app = App::new(Mode::Watching);
        assert_eq!(app.press(control_c, &example()), Action::Leave);
    }

    #[test]
    fn stopping_after_the_epoch_is_confirmed_and_only_for_ones_own_runs() {
        let mut app = App::new(Mode::Owning);
        assert_eq!(press(&mut app, "sy")[1], Action::Ask(Request::StopAfterEpoch));
        assert!(app.stopping);
        let mut watching = App::new(Mode::Watching);
        assert_eq!(press(&mut watching, "sy"), [Action::None, Action::None]);
        assert_eq!(watching.popup, None);
    }

    #[test]
    fn keys_walk_through_dropout_and_learning_rates() {
        let snapshot = example();
        let mut app = App::new(Mode::Watching);
        let shown = |app: &App| {
            let context = app.context(&snapshot).map(|context| context.number("dropout"));
            (context, app.tuned(&snapshot).map(|tuned| tuned.number("lr")))
        };
        assert_eq!(shown(&app), (Some(0.0), None));
        press(&mut app, "dr");
        assert_eq!(shown(&app), (Some(0.5), Some(1e-4)));
        press(&mut app, "drr");
        assert_eq!(shown(&app), (Some(0.0), None));
    }

    #[test]
    fn verdicts_come_and_go_by_a_key() {
        let mut app = App::new(Mode::Watching);
        press(&mut app, "v");
        assert!(app.verdicts);
        press(&mut app, "v");
        assert!(!app.verdicts);
    }

    #[test]
    fn tables_of_bars_come_one_by_one_and_go() {
        crate::extension::example::install();
        let mut snapshot = example();
        let table = |heading: &str| BarTable {
            heading: heading.to_owned(),
            columns: Vec::new(),
            rows: Vec::new(),
        };
        let bars = DashboardBars {
            name: "parts",
            help: "what the parts do",
            nothing: "",
            row: "part",
            tables: vec![table("one"), table("two")],
        };
        let mut app = App::new(Mode::Watching);
        let press = |app: &mut App, keys: &str, snapshot: &Snapshot| {
            for key in keys.chars() {
                app.press(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE), snapshot);
            }
            (app.verdicts, app.bars)
        };
        assert_eq!(press(&mut app, "vp", &snapshot), (false, None), "there are none");
        snapshot.runs[0].extras = Extras::default().with(bars);
        assert_eq!(press(&mut app, "vp", &snapshot), (false, Some(0)));
        assert_eq!(press(&mut app, "p", &snapshot), (false, Some(1)));
        assert_eq!(press(&mut app, "p", &snapshot), (false, None));
        assert_eq!(press(&mut app, "pv", &snapshot), (true, None));
    }

    #[test]
    fn zoom_halves_doubles_and_resets() {
        let mut app = App::new(Mode::Watching);
        press(&mut app, "+");
        assert_eq!(app.window, Some(6));
        press(&mut app, "+++");
        assert_eq!(app.window, Some(2));
        press(&mut app, "-");
        assert_eq!(app.window, Some(4));
        press(&mut app, "--");
        assert_eq!(app.window, None);
    }

    #[test]
    fn empty_comparison_ignores_navigation() {
        let mut snapshot = without_epochs();
        snapshot.runs.clear();
        let mut app = App::new(Mode::Watching);
        for key in "dr+-zl".chars() {
            app.press(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE), &snapshot);
        }
        assert_eq!(app.context(&snapshot), None);
        assert_eq!(app.quantity(&snapshot).name, "loss");
    }
}
