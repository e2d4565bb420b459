use crate::TrainingOps;
use burn_router::{BackendRouter, RouterChannel};

impl<C: RouterChannel> TrainingOps for BackendRouter<C> {}
