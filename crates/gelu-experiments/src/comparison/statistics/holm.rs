/// Holm's adjusted p-values (1979): each tests its hypothesis at any level as if it were alone, and
/// together they reject a true one with no more than that probability.
///
/// Of k p-values, the j-th smallest becomes the largest of (k − i + 1) · p₍ᵢ₎ over i ≤ j, at most 1.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut adjusted, mut largest) = (vec![0.0; p.len()], 0.0f64);
    for (rank, index) in order.into_iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[index]);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_are_those_of_the_definition() {
        // Sorted 0.01, 0.02, 0.03 and 0.04: 4, 3, 2 and 1 times, never falling.
        assert_eq!(holm(&[0.02, 0.04, 0.01, 0.03]), [0.06, 0.06, 0.04, 0.06]);
        assert_eq!(holm(&[0.5, 0.6]), [1.0, 1.0]);
        assert_eq!(holm(&[0.03]), [0.03]);
        assert!(holm(&[]).is_empty());
    }
}
