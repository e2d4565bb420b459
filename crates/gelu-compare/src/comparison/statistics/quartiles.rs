/// The quartiles of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quartiles {
    /// A quarter of the values is below this one.
    pub lower: f64,
    /// A quarter of the values is above this one.
    pub upper: f64,
}

/// Returns the quartiles of `values`, interpolated linearly between order statistics: position `(n − 1)·p` counted
/// from 0 (type 7 of Hyndman & Fan, 1996; the default of NumPy and R). Returns `None` for no values.
pub(crate) fn quartiles(values: &[f64]) -> Option<Quartiles> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |p: f64| {
        let position = last as f64 * p;
        let (below, part) = (sorted[position.floor() as usize], position.fract());
        let above = sorted[position.ceil() as usize];
        // This includes two infinities, whose difference is not a number.
        if part == 0.0 || below == above { below } else { below + (above - below) * part }
    };
    Some(Quartiles { lower: at(0.25), upper: at(0.75) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_agree_with_numpy() {
        // numpy.quantile of [7, 1, 3, 10] and of [5, 1, 2], at [0.25, 0.75].
        assert_eq!(quartiles(&[7.0, 1.0, 3.0, 10.0]), Some(Quartiles { lower: 2.5, upper: 7.75 }));
        assert_eq!(quartiles(&[5.0, 1.0, 2.0]), Some(Quartiles { lower: 1.5, upper: 3.5 }));
        assert_eq!(quartiles(&[4.0]), Some(Quartiles { lower: 4.0, upper: 4.0 }));
        assert_eq!(quartiles(&[]), None);
        let [two, lost] = [2.0, f64::INFINITY];
        assert_eq!(quartiles(&[two, lost, lost, lost]).map(|q| q.upper), Some(lost));
    }
}
