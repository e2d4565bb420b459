use crate::runs::{Phase, Progress, RunFolder};
use burn::train::LearnerSummary;
use burn::train::logger::{EvaluationProgressLogger, TrainingProgressLogger};
use burn::train::metric::MetricDefinition;
use burn::train::renderer::{
    EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation,
    MetricsRendererTraining,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the hint on disk is renewed: as often as a dashboard looks.
const INTERVAL: Duration = Duration::from_millis(200);

/// The epoch under way, written to the run's folder now and then.
#[derive(Debug)]
pub(super) struct ProgressSink {
    folder: RunFolder,
    state: Mutex<(Progress, Option<Instant>)>,
}

impl ProgressSink {
    pub(super) fn new(folder: RunFolder) -> Self {
        let start = Progress { epoch: 1, phase: Phase::Train, done: 0, total: 0, batch_loss: None };
        Self { folder, state: Mutex::new((start, None)) }
    }

    /// Changes what is known, and writes it if the last time is long enough ago.
    pub(super) fn update(&self, change: impl FnOnce(&mut Progress)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, written) = &mut *state;
        change(progress);
        if written.is_none_or(|written| written.elapsed() >= INTERVAL) {
            self.folder.set_progress(progress);
            *written = Some(Instant::now());
        }
    }
}

/// The half of the dashboard that lives in the process of a run: a renderer for Burn's learner
/// that writes what it hears into the run's folder, where the screen's half reads it.
#[derive(Debug)]
pub(super) struct RunRenderer(pub(super) Arc<ProgressSink>);

impl MetricsRendererTraining for RunRenderer {
    fn update_train(&mut self, state: MetricState) {
        // The loss is the only metric that a run's own learner registers.
        if let MetricState::Numeric(_, Some(entry)) = state {
            self.0.update(|progress| progress.batch_loss = Some(entry.current()));
        }
    }

    fn update_valid(&mut self, _state: MetricState) {}

    fn on_train_end(
        &mut self,
        _summary: Option<LearnerSummary>,
    ) -> Result<(), Box<dyn core::error::Error>> {
        Ok(())
    }
}

impl TrainingProgressLogger for RunRenderer {
    fn start(&mut self, _: usize, _: usize, _: Option<usize>, _: Option<&str>) {}

    fn update_epoch(&mut self, _epoch: usize) {}

    fn start_split(&mut self, split: &str, total_items: usize) {
        if split.eq_ignore_ascii_case("train") {
            self.0.update(|progress| {
                *progress =
                    Progress { phase: Phase::Train, done: 0, total: total_items, ..*progress };
            });
        }
    }

    fn update_split(&mut self, items_processed: usize) {
        self.0.update(|progress| {
            if progress.phase == Phase::Train {
                progress.done = items_processed;
            }
        });
    }

    fn end_split(&mut self) {}

    fn end(&mut self) {}

    fn log_event_training(&mut self, _event: String) {}
}

impl MetricsRendererEvaluation for RunRenderer {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl EvaluationProgressLogger for RunRenderer {
    fn start_global_progress(&mut self, _total_tests: usize) {}

    fn start_test(&mut self, _name: &str, _total_items: usize) {}

    fn update_test_progress(&mut self, _items_processed: usize) {}

    fn end_test(&mut self) {}

    fn end_global_progress(&mut self) {}

    fn log_event_evaluation(&mut self, _event: String) {}
}

impl MetricsRenderer for RunRenderer {
    fn manual_close(&mut self) {}

    fn register_metric(&mut self, _definition: MetricDefinition) {}
}
