use super::colours::colour_of;
use super::symbols::key;
use crate::comparison::{Difference, Headings, Verdict, Wording, differences};
use crate::report::{ForestPanel, Mark, cuts, forest, missing_intervals, strip};
use crate::runs::Snapshot;
use crate::setting::{Axis, Role};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Table, Widget, Wrap};

/// Every comparison with the baseline: one line each, and sentences if there is room.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VerdictsView {
    heading: String,
    /// The names of the axes at whose values verdicts are made.
    contexts: Vec<String>,
    rows: Vec<VerdictRow>,
    /// The unit of pairs: seeds or tasks.
    unit: &'static str,
    panels: Vec<ForestPanel>,
    /// The parts that were cut down, then the sentences of each comparison.
    sentences: Vec<String>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
struct VerdictRow {
    position: usize,
    name: String,
    contexts: Vec<String>,
    effect: String,
    interval: String,
    pairs: String,
    verdict: Verdict,
    further: String,
}

impl VerdictsView {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let differences = differences(snapshot);
        let over = snapshot.criterion.over.as_ref().map(|(over, _)| over);
        let wording = match over {
            Some(over) => snapshot.wording().on_scale(over.scale),
            None => snapshot.wording(),
        };
        let measure = wording.metric();
        let unit = wording.unit().trim_start();
        let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
        let baseline = snapshot.label(&snapshot.criterion.baseline);
        let better = if wording.higher_is_better() { "above" } else { "below" };
        let headings = Headings::of(&snapshot.design.axes, differences.iter().map(|d| &d.context));
        let said = |d: &Difference| headings.head(&d.context, &d.finding.sentence);
        Self {
            heading: format!("{measure} − that of {baseline}{unit}; {better} 0: better"),
            contexts: contexts(snapshot).map(|axis| axis.name.clone()).collect(),
            unit: if over.is_some() { "tasks" } else { "seeds" },
            rows: differences.iter().map(|d| row(snapshot, d, &wording)).collect(),
            panels: forest(snapshot).map_or_else(Vec::new, |forest| forest.panels),
            sentences: cuts(&snapshot.design.cut_down)
                .into_iter()
                .chain(differences.iter().map(said))
                .chain(missing_intervals(differences.iter().map(|d| &d.finding)))
                .collect(),
        }
    }

    pub(super) fn render(&self, area: Rect, buffer: &mut Buffer) {
        let table_height = self.rows.len() as u16 + 1;
        let forest_height = self.forest_height();
        let [heading, table, forest, sentences] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(table_height),
            Constraint::Length(forest_height),
            Constraint::Fill(1),
        ])
        .areas(area);
        Line::from(self.heading.as_str()).render(heading, buffer);
        if self.rows.is_empty() {
            Paragraph::new("There is one setting, and nothing to compare it with.")
                .render(table, buffer);
            return;
        }
        let columns = self.columns(area.width);
        let widths = columns.iter().map(|column| Constraint::Length(column.width));
        let rows = self.rows.iter().map(|row| columns.iter().map(|c| (c.cell)(row)).collect());
        let rows: Vec<ratatui::widgets::Row<'_>> = rows.collect();
        let header = columns.iter().map(|column| Cell::from(column.heading).dim());
        let shown = Table::new(rows, widths).header(header.collect());
        Widget::render(shown, table, buffer);
        self.render_forest(forest, buffer);
        let lines: Vec<Line<'_>> = self.sentences.iter().map(|text| text.as_str().into()).collect();
        let text = Paragraph::new(lines).wrap(Wrap { trim: true });
        let [_, below] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(sentences);
        text.dim().render(below, buffer);
    }
}

/// A column of the table.
struct Column<'a> {
    heading: &'a str,
    /// The width of the column's widest text.
    width: u16,
    cell: Box<dyn Fn(&'a VerdictRow) -> Cell<'a> + 'a>,
}

impl VerdictsView {
    /// Returns the columns that fit into `width` characters. Drops the least needed columns first; the interval and
    /// the verdict always stay.
    fn columns(&self, width: u16) -> Vec<Column<'_>> {
        fn column<'a>(
            rows: &'a [VerdictRow],
            heading: &'a str,
            text: impl Fn(&'a VerdictRow) -> &'a str + 'a,
        ) -> Column<'a> {
            let texts = rows.iter().map(&text).chain([heading]);
            let widest = texts.map(|text| text.chars().count()).max().unwrap_or(0) as u16;
            Column { heading, width: widest, cell: Box::new(move |row| Cell::from(text(row))) }
        }
        let rows = self.rows.as_slice();
        let symbol = Column { heading: "", width: 1, cell: Box::new(|r| key(r.position).into()) };
        // The longest verdict is `undecided`.
        let verdict = Column { heading: "verdict", width: 9, cell: Box::new(verdict_cell) };
        let mut columns = vec![(0, symbol), (0, column(rows, "", |row| &row.name))];
        for (place, name) in self.contexts.iter().enumerate() {
            columns.push((0, column(rows, name, move |row| &row.contexts[place])));
        }
        columns.extend([
            (1, column(rows, "effect", |row| &row.effect)),
            (0, column(rows, "interval", |row| &row.interval)),
            (2, column(rows, self.unit, |row| &row.pairs)),
            (0, verdict),
            (3, column(rows, "to decide", |row| &row.further)),
        ]);
        for least in [3, 2, 1] {
            let whole: u16 = columns.iter().map(|(_, column)| column.width + 1).sum();
            if whole > width + 1 {
                columns.retain(|(need, _)| *need != least);
            }
        }
        columns.into_iter().map(|(_, column)| column).collect()
    }

    /// Returns the height of the forest plot: a blank line, one line per row, and one per title.
    fn forest_height(&self) -> u16 {
        let lines: usize = self.panels.iter().map(|panel| panel.rows.len()).sum();
        let titles = self.panels.iter().filter(|panel| !panel.title.is_empty()).count();
        if lines == 0 { 0 } else { (1 + lines + titles) as u16 }
    }

    /// Draws the rows as a forest plot in characters, each panel on its own axis.
    fn render_forest(&self, area: Rect, buffer: &mut Buffer) {
        const LABEL: u16 = 16;
        let places = usize::from(area.width.saturating_sub(LABEL));
        let mut lines = vec![Line::default()];
        for panel in &self.panels {
            if !panel.title.is_empty() {
                lines.push(Line::from(panel.title.as_str()).dim());
            }
            for row in &panel.rows {
                let label: String = row.label.chars().take(usize::from(LABEL) - 2).collect();
                let mut line =
                    vec![Span::from(format!("{label:width$}", width = usize::from(LABEL)))];
                line.extend(strip(panel, row, places).into_iter().map(|mark| {
                    let span = Span::from(mark.symbol().to_string());
                    match mark {
                        Mark::Thin | Mark::Bar | Mark::Mean | Mark::Left | Mark::Right => {
                            span.fg(colour_of(row.position))
                        }
                        _ => span.dim(),
                    }
                }));
                lines.push(Line::from(line));
            }
        }
        Paragraph::new(lines).render(area, buffer);
    }
}

/// Returns the axes at each of whose values there is a verdict.
fn contexts(snapshot: &Snapshot) -> impl Iterator<Item = &Axis> {
    let over = snapshot.criterion.over.as_ref().map(|(over, _)| over.axis.as_str());
    Role::Each.of(&snapshot.design.axes).filter(move |axis| Some(axis.name.as_str()) != over)
}

fn row(snapshot: &Snapshot, difference: &Difference, wording: &Wording) -> VerdictRow {
    let finding = &difference.finding;
    let effect = finding.mean.map(|mean| wording.number(mean, finding.resolution()));
    let interval = match finding.interval {
        Some(interval) => wording.interval(interval.ends()),
        None if finding.pairs.any_diverged() => {
            format!("{} and {} diverged", finding.diverged, finding.baseline_diverged)
        }
        None => "–".to_owned(),
    };
    VerdictRow {
        position: snapshot.position(&difference.arm),
        name: snapshot.label(&difference.arm),
        contexts: contexts(snapshot).map(|axis| axis.label_in(&difference.context)).collect(),
        effect: effect.unwrap_or_else(|| "–".to_owned()),
        interval,
        pairs: finding.seeds.to_string(),
        verdict: finding.verdict,
        further: match finding.forecast_seeds {
            _ if !finding.is_open() => String::new(),
            _ if (finding.seeds as u64) < finding.planned_seeds => {
                let most = if finding.until_decided { "at most " } else { "" };
                format!("{most}{}", finding.units(finding.planned_seeds))
            }
            Some(total) => format!("~{}", finding.units(total)),
            None => String::new(),
        },
    }
}

fn verdict_cell(row: &VerdictRow) -> Cell<'_> {
    let verdict = Span::from(row.verdict.to_string());
    match row.verdict {
        Verdict::Better => verdict.style(Style::new().fg(Color::Indexed(36)).bold()),
        Verdict::Worse => verdict.style(Style::new().fg(Color::Indexed(166)).bold()),
        Verdict::Same => verdict.bold(),
        Verdict::Undecided => verdict.dim(),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::statistics::Schedule;
    use crate::extension::{Extras, WiderInterval};
    use crate::testing::{example, without_epochs};

    fn screen(snapshot: &Snapshot, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        VerdictsView::of(snapshot).render(area, &mut buffer);
        let lines = buffer.content().chunks(usize::from(width).max(1));
        let text = lines.map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>());
        text.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_comparison_has_a_line_with_its_effect_interval_verdict_and_what_is_missing() {
        let screen = screen(&example(), 80, 24);
        assert!(
            screen.contains("test error − that of GELU, in points; below 0: better"),
            "{screen}"
        );
        let line = screen.lines().find(|line| line.contains("▲ ReLU")).unwrap();
        for text in ["0.2", " 3 ", "undecided"] {
            assert!(line.contains(text), "{text:?} is missing:\n{screen}");
        }
        assert!(screen.contains("GELU is ahead by 0.26347"), "{screen}");
    }

    #[test]
    fn a_narrow_terminal_shows_every_interval_to_its_end() {
        let mut snapshot = example();
        // At this level, three seeds have an interval.
        (snapshot.criterion.alpha, snapshot.criterion.comparisons) = (0.5, 1);
        for run in &mut snapshot.runs {
            let uneven = run.key.setting.text("activation") == "relu" && run.key.seed % 2 == 1;
            let error = 0.123_456 * run.key.seed as f64 + if uneven { 0.234_567 } else { 0.0 };
            run.epochs.last_mut().unwrap().set("test_error", error);
        }
        let view = VerdictsView::of(&snapshot);
        let ends: Vec<&str> =
            view.rows.iter().filter_map(|row| row.interval.split_whitespace().last()).collect();
        assert_eq!(ends.len(), 2);
        for width in [50, 60, 80, 120] {
            let screen = screen(&snapshot, width, 24);
            for (line, end) in screen.lines().filter(|line| line.contains("▲ ReLU")).zip(&ends) {
                assert!(line.contains(end), "{end:?} is missing at {width}:\n{screen}");
                assert!(line.contains("worse"), "{screen}");
            }
        }
    }

    #[test]
    fn a_sentence_names_its_dropout_rate_where_there_are_several() {
        let mut snapshot = example();
        let both = screen(&snapshot, 100, 24);
        for rate in ["Dropout 0: ReLU and GELU", "Dropout 0.5: ReLU and GELU"] {
            assert!(both.contains(rate), "{rate:?} is missing:\n{both}");
        }
        snapshot.runs.retain(|run| run.key.setting.number("dropout") == 0.5);
        let one = screen(&snapshot, 100, 24);
        assert!(one.contains("\nReLU and GELU") && !one.contains("Dropout"), "{one}");
    }

    #[test]
    fn what_was_cut_is_said_first() {
        crate::extension::example::install();
        let mut snapshot = example();
        let reason: Result<WiderInterval, String> = Err("There is no wider interval.".to_owned());
        for run in &mut snapshot.runs {
            run.extras = Extras::default().with(reason.clone());
        }
        snapshot.design.cut_down = vec!["2 epochs instead of 20".to_owned()];
        let screen = screen(&snapshot, 100, 30);
        assert!(screen.contains("\nCut down: 2 epochs instead of 20."), "{screen}");
        // And last, what cannot be told.
        assert!(screen.contains("\nThere is no wider interval."), "{screen}");
    }

    #[test]
    fn every_size_and_state_can_be_drawn() {
        let mut alone = example();
        alone.runs.retain(|run| run.key.setting.text("activation") == "gelu");
        for snapshot in [example(), without_epochs(), alone] {
            for (width, height) in [(0, 0), (1, 1), (20, 5), (80, 24), (200, 60)] {
                screen(&snapshot, width, height);
            }
        }
    }

    #[test]
    fn only_an_open_comparison_says_how_many_seeds_it_is_to_have() {
        let mut snapshot = example();
        snapshot.criterion.schedule = Schedule::fixed(9);
        let rows = VerdictsView::of(&snapshot).rows;
        assert!(rows.iter().all(|row| row.further == "9 seeds"), "{rows:?}");
        // At this level, three seeds decide.
        snapshot.criterion.schedule = Schedule::fixed(3);
        (snapshot.criterion.alpha, snapshot.criterion.comparisons) = (0.5, 1);
        let rows = VerdictsView::of(&snapshot).rows;
        let decided: Vec<_> = rows.iter().filter(|row| row.verdict != Verdict::Undecided).collect();
        assert!(!decided.is_empty());
        assert!(decided.iter().all(|row| row.further.is_empty()), "{rows:?}");
    }
}
