use std::time::Duration;

/// Formats a duration for people: `1:05:09`, `5:09`, `9 s`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// Formats seconds in the same way. Returns a dash if they are not a duration, such as negative ones.
pub fn seconds(seconds: f64) -> String {
    Duration::try_from_secs_f64(seconds).map_or_else(|_| "–".to_owned(), duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        assert_eq!(duration(Duration::from_secs(9)), "9 s");
        assert_eq!(duration(Duration::from_secs(309)), "5:09");
        assert_eq!(duration(Duration::from_secs(3909)), "1:05:09");
    }

    #[test]
    fn what_is_no_duration_is_a_dash() {
        assert_eq!(seconds(309.4), "5:09");
        for impossible in [-1.0, 1e300, f64::INFINITY, f64::NAN] {
            assert_eq!(seconds(impossible), "–");
        }
    }
}
