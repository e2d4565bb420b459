use super::app::Popup;
use super::symbols::key;
use super::view::{Row, View};
use crate::measure::duration;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Cell, Clear, Gauge, Paragraph, Table, Tabs, Widget};

impl View {
    pub(super) fn render(&self, frame: &mut Frame<'_>) {
        self.render_to(frame.area(), frame.buffer_mut());
    }

    /// Draws everything. Leaves out what does not fit, the chart first and the progress last.
    pub(super) fn render_to(&self, area: Rect, buffer: &mut Buffer) {
        let running = self.running.len().min(3) as u16;
        let (table, chart) = (self.rows.len() as u16 + 1, area.height >= 18);
        let [title, tabs, body, rows, live, gauge, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(u16::from(area.height >= 8)),
            Constraint::Fill(1),
            Constraint::Length(if area.height >= 12 { table } else { 0 }),
            Constraint::Length(if area.height >= 10 { running } else { 0 }),
            Constraint::Length(1),
            Constraint::Length(u16::from(area.height >= 6)),
        ])
        .areas(area);
        self.title(title, buffer);
        self.tabs(tabs, buffer);
        match (&self.verdicts, &self.bars) {
            (Some(verdicts), _) => verdicts.render(body, buffer),
            (None, Some(bars)) => bars.render(body, buffer),
            (None, None) if chart || body.height >= 6 => self.chart.render(body, buffer),
            (None, None) => {}
        }
        self.table(rows, buffer);
        let live_lines: Vec<Line<'_>> =
            self.running.iter().map(|run| run.as_str().into()).collect();
        Paragraph::new(live_lines).dim().render(live, buffer);
        self.gauge(gauge, buffer);
        Paragraph::new(self.keys.as_str()).dim().render(keys, buffer);
        if let Some(popup) = self.popup {
            self.popup(popup, area, buffer);
        }
    }

    fn title(&self, area: Rect, buffer: &mut Buffer) {
        let mut line = Line::from(Span::from(self.title.as_str()).bold());
        if self.synthetic {
            line.push_span(Span::from("  SYNTHETIC DATA").fg(Color::Indexed(166)).bold());
        }
        line.render(area, buffer);
    }

    fn tabs(&self, area: Rect, buffer: &mut Buffer) {
        let [left, right] = Layout::horizontal([
            Constraint::Fill(1),
            Constraint::Length(self.choice.chars().count() as u16),
        ])
        .areas(area);
        Tabs::new(self.tabs.iter().map(String::as_str))
            .select(self.tab)
            .highlight_style(Style::new().add_modifier(Modifier::REVERSED))
            .render(left, buffer);
        Paragraph::new(self.choice.as_str()).render(right, buffer);
    }

    fn table(&self, area: Rect, buffer: &mut Buffer) {
        let header: Vec<&str> = ["", self.epoch]
            .into_iter()
            .chain(self.measured.iter().map(String::as_str))
            .chain([self.tuned.as_str(), "runs"])
            .collect();
        let header = header.into_iter().map(|text| Cell::from(Text::from(text).dim()));
        let longest = self.rows.iter().map(|row| row.runs.chars().count()).max().unwrap_or(0);
        let tuned = self.rows.iter().map(|row| row.tuned.chars().count()).max().unwrap_or(0);
        let tuned = if self.tuned.is_empty() { 0 } else { tuned.max(8) };
        let values = self.measured.iter().map(|_| Constraint::Fill(1));
        let widths: Vec<Constraint> = [Constraint::Length(1), Constraint::Fill(2)]
            .into_iter()
            .chain(values)
            .chain([Constraint::Length(tuned as u16), Constraint::Length(longest.max(4) as u16)])
            .collect();
        let rows = self.rows.iter().map(row);
        Widget::render(Table::new(rows, widths).header(header.collect()), area, buffer);
    }

    fn gauge(&self, area: Rect, buffer: &mut Buffer) {
        let reading = &self.reading;
        let elapsed = duration(reading.elapsed);
        let time = match reading.left {
            Some(left) if left.is_zero() => "done".to_owned(),
            Some(left) => format!("{elapsed} · {} left", duration(left)),
            None => format!("{elapsed} · time left unknown"),
        };
        let stopping = if self.stopping { "stopping after this epoch · " } else { "" };
        let label =
            format!("{stopping}{:.0}/{:.0} epochs · {time}", reading.done.floor(), reading.total);
        Gauge::default()
            .ratio(reading.fraction())
            .gauge_style(Style::new().fg(Color::Indexed(33)).bg(Color::Indexed(238)))
            .label(Span::from(label).fg(Color::White).bold())
            .render(area, buffer);
    }

    fn popup(&self, popup: Popup, area: Rect, buffer: &mut Buffer) {
        let help = help(self.bars_help);
        let (title, text) = match popup {
            Popup::ConfirmStop => (
                " Stop? ",
                "Finish and save the epochs under way,\nthen end. The same command goes on later.\n\n\
                 y or Enter: stop    any other key: go on",
            ),
            Popup::ConfirmQuit => (
                " Quit? ",
                "The epochs under way are lost; all before\nare saved. The same command goes on later.\n\n\
                 y or Enter: quit    any other key: go on",
            ),
            Popup::Help => (" Keys ", help.as_str()),
        };
        let (width, height) = (46, text.lines().count() as u16 + 2);
        let inside = Rect {
            x: area.x + area.width.saturating_sub(width) / 2,
            y: area.y + area.height.saturating_sub(height) / 2,
            width: width.min(area.width),
            height: height.min(area.height),
        };
        Clear.render(inside, buffer);
        Paragraph::new(text).block(Block::bordered().title(title)).render(inside, buffer);
    }
}

/// Returns the text that explains the keys.
fn help(bars: Option<&str>) -> String {
    let bars = bars.map_or_else(String::new, |bars| format!("p        {bars}\n"));
    format!(
        "← → Tab  metric\nv        verdicts, or the curves\n{bars}d        next of what has a verdict each\n\
         r        next of what is tuned, or the best\nl        linear or logarithmic scale\n\
         + − ↑ ↓  fewer or more of the last epochs\nz        all epochs\ns        stop after the epoch, saving it\n\
         q Ctrl-C quit\n\n▶ is trained now. Any key closes this."
    )
}

fn row(row: &Row) -> ratatui::widgets::Row<'_> {
    let name = match row.running {
        true => Span::from(format!("{} ▶", row.name)).bold(),
        false => Span::from(row.name.as_str()),
    };
    let mut cells = vec![Cell::from(key(row.position)), Cell::from(name)];
    cells.extend(row.values.iter().map(|value| Cell::from(value.as_str())));
    cells.push(Cell::from(row.tuned.as_str()));
    cells.push(Cell::from(row.runs.as_str()));
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::app::{App, Mode};
    use super::super::clock::Clock;
    use super::*;
    use crate::extension::{BarCell, BarTable, DashboardBars, Extras};
    use crate::runs::{Phase, Progress, RunStatus, Snapshot};
    use crate::testing::{example, without_epochs};

    fn screen(app: &App, snapshot: &Snapshot, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        View::of(app, snapshot, Clock::start().read(snapshot)).render_to(area, &mut buffer);
        let lines = buffer.content().chunks(usize::from(width).max(1));
        let text = lines.map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>());
        text.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_small_terminal_shows_title_chart_table_progress_and_keys() {
        let screen = screen(&App::new(Mode::Owning), &example(), 80, 24);
        for text in [
            "Built-in digits, 8×128 classifier · digits · flex  SYNTHETIC DATA",
            "Loss",
            "dropout 0 · best lr",
            "lines: train   symbols: valid",
            "● GELU",
            "▲ ReLU",
            "3/3",
            "epochs",
            "s stop",
        ] {
            assert!(screen.contains(text), "{text:?} is missing:\n{screen}");
        }
        let chart: String = screen.lines().skip(2).take(12).collect();
        let lines = chart.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
        assert!(lines > 20, "the curves are drawn:\n{screen}");
        assert!(chart.contains('▲'), "validation has symbols:\n{screen}");
    }

    #[test]
    fn bars_are_shown_in_place_of_the_chart() {
        crate::extension::example::install();
        let cell = |value: &str, share| BarCell { value: value.to_owned(), share };
        let table = BarTable {
            heading: "dead units by layer".to_owned(),
            columns: vec![(0, "GELU".to_owned()), (1, "ReLU".to_owned())],
            rows: vec![vec![cell("0.0 %", 0.0), cell("32.0 %", 0.32)]],
        };
        let bars = |tables| DashboardBars {
            name: "layers",
            help: "what the layers do",
            nothing: "No run has been probed.",
            row: "layer",
            tables,
        };
        let mut snapshot = example();
        let mut app = App::new(Mode::Watching);
        app.bars = Some(0);
        snapshot.runs[0].extras = Extras::default().with(bars(vec![table.clone()]));
        let text = screen(&app, &snapshot, 80, 24);
        for expected in ["dead units by layer", "ReLU", "███ ", "32.0 %", "p layers"] {
            assert!(text.contains(expected), "{expected:?} is missing:\n{text}");
        }
        let empty = BarTable { rows: Vec::new(), ..table };
        snapshot.runs[0].extras = Extras::default().with(bars(vec![empty]));
        let text = screen(&app, &snapshot, 80, 24);
        assert!(text.contains("been probed.") && !text.contains("p layers"), "{text}");
        app.popup = Some(Popup::Help);
        assert!(screen(&app, &snapshot, 80, 24).contains("p        what the layers do"));
        assert!(!screen(&app, &example(), 80, 24).contains("p        what"));
    }

    #[test]
    fn every_size_and_state_can_be_drawn() {
        let mut odd = example();
        odd.runs[0].status = RunStatus::Running;
        odd.runs[0].progress = Some(Progress {
            epoch: 3,
            phase: Phase::Evaluate,
            done: 5,
            total: 0,
            batch_loss: None,
        });
        odd.runs[1].epochs.iter_mut().for_each(|e| e.set("train_loss", f64::INFINITY));
        let mut none = without_epochs();
        none.runs.clear();
        for snapshot in [example(), without_epochs(), odd, none] {
            for popup in
                [None, Some(Popup::Help), Some(Popup::ConfirmQuit), Some(Popup::ConfirmStop)]
            {
                let mut app = App::new(Mode::Owning);
                (app.popup, app.logarithmic, app.window) = (popup, popup.is_some(), Some(2));
                for (width, height) in
                    [(0, 0), (1, 1), (0, 5), (20, 5), (40, 11), (80, 24), (200, 60)]
                {
                    screen(&app, &snapshot, width, height);
                }
            }
        }
    }

    #[test]
    fn the_running_activation_is_marked() {
        let mut snapshot = example();
        let run = snapshot
            .runs
            .iter_mut()
            .find(|run| run.key.setting.text("activation") == "relu")
            .unwrap();
        run.status = RunStatus::Running;
        run.progress = Some(Progress {
            epoch: 4,
            phase: Phase::Train,
            done: 50,
            total: 200,
            batch_loss: None,
        });
        let screen = screen(&App::new(Mode::Watching), &snapshot, 100, 30);
        assert!(screen.contains("ReLU ▶") && !screen.contains("GELU ▶"), "{screen}");
        assert!(screen.contains("epoch 4/12  training 25 %"), "{screen}");
    }

    #[test]
    fn runs_that_diverged_are_named_whole_in_a_small_terminal() {
        let mut snapshot = example();
        snapshot.runs[0].status = RunStatus::Diverged { epoch: 12 };
        let screen = screen(&App::new(Mode::Watching), &snapshot, 80, 24);
        assert!(screen.contains(" 2/3 1 diverged"), "{screen}");
    }

    #[test]
    fn a_popup_is_in_the_middle() {
        let mut app = App::new(Mode::Owning);
        app.popup = Some(Popup::ConfirmQuit);
        let screen = screen(&app, &example(), 100, 31);
        let lines: Vec<Vec<char>> = screen.lines().map(|line| line.chars().collect()).collect();
        let has = |line: &Vec<char>| line.iter().collect::<String>().contains(" Quit? ");
        let top = lines.iter().position(has).unwrap();
        // Four lines of text, two of the border.
        assert_eq!(top, (31 - 6) / 2, "{screen}");
        assert_eq!((lines[top][27], lines[top][72]), ('┌', '┐'), "{screen}");
    }

    #[test]
    fn popups_say_what_is_lost() {
        let mut app = App::new(Mode::Owning);
        app.popup = Some(Popup::ConfirmQuit);
        let screen = screen(&app, &example(), 80, 24);
        assert!(screen.contains("The epochs under way are lost"), "{screen}");
    }
}
