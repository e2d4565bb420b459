//! The three transforms, each for one row or column.

/// Computes one of the two products of `Bᵀ d B`, for four numbers.
#[inline(always)]
pub(super) fn source<const LANES: usize>(d: [[f32; LANES]; 4]) -> [[f32; LANES]; 4] {
    let [a, b, c, d] = d;
    [minus(a, c), plus(b, c), minus(c, b), minus(b, d)]
}

/// Computes one of the two products of `Aᵀ m A`.
#[inline(always)]
pub(super) fn result<const LANES: usize>(m: [[f32; LANES]; 4]) -> [[f32; LANES]; 2] {
    let [a, b, c, d] = m;
    [plus(plus(a, b), c), minus(minus(b, c), d)]
}

/// Computes one of the two products of `G g Gᵀ`.
#[inline(always)]
pub(super) fn weights<const LANES: usize>([a, b, c]: [[f32; LANES]; 3]) -> [[f32; LANES]; 4] {
    let (outer, middle) = (halved(plus(a, c)), halved(b));
    [a, plus(outer, middle), minus(outer, middle), c]
}

/// Computes one of the two products of `A y Aᵀ`. The last number has the opposite sign.
#[inline(always)]
pub(super) fn gradient<const LANES: usize>([a, b]: [[f32; LANES]; 2]) -> [[f32; LANES]; 4] {
    [a, plus(a, b), minus(a, b), b]
}

/// Computes one of the two products of `Gᵀ m G`. The last number has the opposite sign.
#[inline(always)]
pub(super) fn kernel<const LANES: usize>(m: [[f32; LANES]; 4]) -> [[f32; LANES]; 3] {
    let [a, b, c, d] = m;
    let outer = halved(plus(b, c));
    [plus(a, outer), halved(minus(b, c)), minus(outer, d)]
}

#[inline(always)]
pub(super) fn plus<const LANES: usize>(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
    let mut sum = a;
    for lane in 0..LANES {
        sum[lane] += b[lane];
    }
    sum
}

#[inline(always)]
pub(super) fn minus<const LANES: usize>(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
    let mut difference = a;
    for lane in 0..LANES {
        difference[lane] -= b[lane];
    }
    difference
}

#[inline(always)]
pub(super) fn halved<const LANES: usize>(mut a: [f32; LANES]) -> [f32; LANES] {
    for lane in 0..LANES {
        a[lane] *= 0.5;
    }
    a
}

/// Returns the vector that begins at `start`.
#[inline(always)]
pub(super) fn vector<const LANES: usize>(numbers: &[f32], start: usize) -> [f32; LANES] {
    let from = &numbers[start..start + LANES];
    let mut vector = [0.0; LANES];
    for lane in 0..LANES {
        vector[lane] = from[lane];
    }
    vector
}

#[inline(always)]
pub(super) fn transposed<const LANES: usize>(
    square: [[[f32; LANES]; 4]; 4],
) -> [[[f32; LANES]; 4]; 4] {
    let [a, b, c, d] = square;
    let mut transposed = [[[0.0; LANES]; 4]; 4];
    for place in 0..4 {
        transposed[place] = [a[place], b[place], c[place], d[place]];
    }
    transposed
}
