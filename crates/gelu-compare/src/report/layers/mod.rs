//! What the layers of networks do, where runs were probed: as sentences, a table, a CSV file and figures.

mod heat;
mod sentences;
mod table;

pub(super) use heat::pictures;
pub(super) use sentences::sentences;
pub(super) use table::{NAME, cells, csv};
