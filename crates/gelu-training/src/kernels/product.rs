//! Matrix products by the crate `gemm`, which Burn's Flex backend also uses.

use gelu_kernels::SharedSlice;
use std::marker::PhantomData;
use std::ops::Range;

/// A matrix in memory with any strides, counted in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Creates a matrix of rows that begin `stride` elements apart.
    ///
    /// # Panics
    ///
    /// If `data` ends before the matrix does.
    pub(crate) fn of_rows(data: &'a [f32], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(reach(rows, columns, stride, 1) <= data.len(), "the matrix lies within its data");
        Self { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the elements of a row. The matrix has to be stored in rows.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &'a [f32] {
        debug_assert!(self.column_stride == 1 && row < self.rows);
        &self.data[row * self.row_stride..][..self.columns]
    }

    /// Returns `rows` rows from `start` on.
    pub(crate) fn middle_rows(self, start: usize, rows: usize) -> Self {
        assert!(start + rows <= self.rows, "the rows are the matrix's");
        Self { data: &self.data[start * self.row_stride..], rows, ..self }
    }

    /// Returns `columns` columns from `start` on.
    pub(crate) fn middle_columns(self, start: usize, columns: usize) -> Self {
        self.transposed().middle_rows(start, columns).transposed()
    }

    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// The memory for a product: rows that begin `stride` elements apart, and that nothing else
/// accesses.
#[derive(Debug)]
pub(crate) struct MatrixMut<'a> {
    start: *mut f32,
    rows: usize,
    columns: usize,
    stride: usize,
    _data: PhantomData<&'a mut [f32]>,
}

impl<'a> MatrixMut<'a> {
    /// Creates the memory for a block of a larger matrix whose rows have `stride` elements.
    ///
    /// # Safety
    ///
    /// No overlapping block may be in use at the same time.
    ///
    /// # Panics
    ///
    /// If the block does not lie within the matrix.
    pub(crate) unsafe fn of_block(
        whole: &'a SharedSlice<'_, f32>,
        stride: usize,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Self {
        assert!(columns.end <= stride, "the columns are the matrix's");
        let first = rows.start * stride + columns.start;
        let start = whole.pointer(first..first + reach(rows.len(), columns.len(), stride, 1));
        Self { start, rows: rows.len(), columns: columns.len(), stride, _data: PhantomData }
    }
}

/// Returns the length of the memory range that a matrix covers.
///
/// # Panics
///
/// If the length overflows.
fn reach(rows: usize, columns: usize, row_stride: usize, column_stride: usize) -> usize {
    if rows == 0 || columns == 0 {
        return 0;
    }
    let rows = (rows - 1).checked_mul(row_stride);
    let columns = (columns - 1).checked_mul(column_stride);
    let reach =
        rows.zip(columns).and_then(|(rows, columns)| rows.checked_add(columns)?.checked_add(1));
    reach.expect("a matrix is no larger than memory")
}

/// Writes the product of two matrices times `scale` to `out`, on this thread.
///
/// # Panics
///
/// If the shapes do not fit.
pub(crate) fn multiply(left: Matrix<'_>, right: Matrix<'_>, out: MatrixMut<'_>, scale: f32) {
    assert_eq!(
        (left.columns, left.rows, right.columns),
        (right.rows, out.rows, out.columns),
        "the shapes of a product fit"
    );
    // SAFETY: all three lie within the slices that they were created from.
    unsafe {
        gemm::gemm(
            out.rows,
            out.columns,
            left.columns,
            out.start,
            1,
            out.stride as isize,
            false,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            0.0,
            scale,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
