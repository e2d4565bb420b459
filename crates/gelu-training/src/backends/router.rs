use crate::TrainingOps;
use crate::cohort::CohortOps;
use burn_router::{BackendRouter, RouterChannel};

impl<C: RouterChannel> TrainingOps for BackendRouter<C> {}

impl<C: RouterChannel> CohortOps for BackendRouter<C> {}
