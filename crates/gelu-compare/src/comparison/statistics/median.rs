/// Returns the median of `values`: the middle one in order, or the mean of the two middle ones. NaN counts as the
/// largest value, so that a diverged run cannot improve a median. Returns `None` for no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> =
        values.into_iter().map(|v| if v.is_nan() { f64::NAN } else { v }).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ if values[middle - 1] == values[middle] => Some(values[middle]),
        _ => Some(values[middle - 1] / 2.0 + values[middle] / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_counts_take_the_middle_and_even_counts_the_mean_of_two() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn nan_counts_as_the_worst_value() {
        assert_eq!(median([f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([-f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([f64::INFINITY, f64::INFINITY, 0.0, 1.0]), Some(f64::INFINITY));
    }
}
