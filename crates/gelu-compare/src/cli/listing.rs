use comfy_table::{CellAlignment, Table, presets};

/// Returns aligned columns for a terminal, one line per row. The columns at the positions `numbers` are
/// right-aligned, the others left-aligned.
pub fn listing(header: &[&str], numbers: &[usize], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header.to_vec()).add_rows(rows);
    for (position, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numbers.contains(&position) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
