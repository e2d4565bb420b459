use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C, a termination request or a closed terminal raises.
///
/// # Errors
///
/// When the system lets nothing be installed.
pub(super) fn interrupted() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = flag.clone();
    ctrlc::set_handler(move || raised.store(true, Ordering::SeqCst))
        .map_err(|error| Error::Device(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(flag)
}
