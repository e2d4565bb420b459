/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// Colours that people with any colour vision can tell apart (Okabe & Ito, 2008), the strongest first. Black is left
/// out because it vanishes on dark terminals. Four more colours for large comparisons follow.
const COLOURS: [Rgb; 11] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [150, 130, 20],
    [102, 60, 200],
    [136, 34, 85],
    [125, 125, 125],
    [120, 70, 30],
];

/// Returns the colour at `place`. After the eleven colours come their darker and lighter shades.
pub fn colour(place: usize) -> Rgb {
    let base = COLOURS[place % COLOURS.len()];
    let darker = |share: f64| base.map(|c| (f64::from(c) * share).round() as u8);
    match place / COLOURS.len() % 5 {
        0 => base,
        1 => darker(0.6),
        2 => lighter(base, 0.35),
        3 => darker(0.35),
        _ => lighter(base, 0.6),
    }
}

/// Returns `colour`, nearer to white by `amount` (0 to 1).
pub fn lighter(colour: Rgb, amount: f64) -> Rgb {
    colour.map(|c| (f64::from(c) + (255.0 - f64::from(c)) * amount).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_place_of_five_times_eleven_has_a_colour_of_its_own() {
        let all: HashSet<Rgb> = (0..55).map(colour).collect();
        assert_eq!(all.len(), 55);
    }
}
