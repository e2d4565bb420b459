use crate::ActivationOps;
use burn_router::{BackendRouter, RouterChannel};

// The composed bodies need nothing registered on the server.
impl<C: RouterChannel> ActivationOps for BackendRouter<C> {}
