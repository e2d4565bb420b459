use std::time::Duration;

/// A duration for people: `1:05:09`, `5:09`, `9 s`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
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
}
