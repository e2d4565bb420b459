/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// Colours that people with any colour vision tell apart (Okabe & Ito, 2008), the strongest first; black
/// is left out, since it vanishes on dark terminals. Behind them, four more for large comparisons.
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

/// The colour of the arm at this position of a comparison.
pub fn colour(position: usize) -> Rgb {
    COLOURS[position % COLOURS.len()]
}

/// The same colour, nearer to white by `amount` (0 to 1).
pub fn lighter(colour: Rgb, amount: f64) -> Rgb {
    colour.map(|c| (f64::from(c) + (255.0 - f64::from(c)) * amount).round() as u8)
}
