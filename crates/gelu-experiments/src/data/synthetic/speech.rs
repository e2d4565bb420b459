//! Sounds like vowels and fricatives, for files in the formats of speech corpora.
//!
//! Every class has two resonances, a share of noise and a loudness. A voice has a pitch and a throat length, which
//! shifts the resonances. A sound consists of the voice's harmonics, filtered by the resonances, and noise.
//! Consecutive sounds blend into each other.

use libm::{cos, sin};
use rand::{Rng, RngExt};
use std::f64::consts::PI;

/// Harmonics above this frequency are left out, in Hz.
const HIGHEST: f64 = 3_800.0;
/// Width of a resonance, in Hz.
const BREADTH: f64 = 120.0;
/// The duration in which two sounds blend into each other, in seconds.
const GLIDE: f64 = 0.015;

/// The parameters of a sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sound {
    resonances: [f64; 2],
    noise: f64,
    loudness: f64,
}

impl Sound {
    /// Almost silent noise.
    pub const SILENCE: Self = Self { resonances: [500.0, 1500.0], noise: 1.0, loudness: 0.004 };

    /// Returns the sound of a class.
    pub fn of(class: usize) -> Self {
        Self {
            resonances: [
                260.0 + 75.0 * (class % 8) as f64,
                950.0 + 190.0 * (class * 5 % 13) as f64,
            ],
            noise: [0.1, 0.15, 0.6][class % 3],
            loudness: [0.9, 0.6][class / 3 % 2],
        }
    }

    /// Interpolates between two sounds; `share` is that of `other`.
    fn towards(self, other: Self, share: f64) -> Self {
        let between = |a: f64, b: f64| a + share * (b - a);
        let [low, high] = self.resonances;
        Self {
            resonances: [between(low, other.resonances[0]), between(high, other.resonances[1])],
            noise: between(self.noise, other.noise),
            loudness: between(self.loudness, other.loudness),
        }
    }
}

/// The voice of a speaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voice {
    pitch: f64,
    throat: f64,
}

impl Voice {
    /// Returns a random voice.
    pub fn random(rng: &mut impl Rng) -> Self {
        let pitch: f64 = rng.random_range(90.0..230.0);
        let throat = 0.92 + (pitch - 90.0) / 1_000.0 + rng.random_range(-0.04..0.04);
        Self { pitch, throat }
    }

    /// Returns the samples of some sounds, each with its length in samples, at `rate` samples per second.
    pub fn speak(self, sounds: &[(Sound, usize)], rate: u32, rng: &mut impl Rng) -> Vec<i16> {
        let rate = f64::from(rate);
        let pitch = self.pitch * rng.random_range(0.93..1.07);
        let volume = rng.random_range(3_000.0..9_000.0);
        let harmonics = (HIGHEST.min(rate / 2.0) / pitch) as usize;
        let mut samples = Vec::with_capacity(sounds.iter().map(|(_, length)| length).sum());
        let mut before = Sound::SILENCE;
        for &(sound, length) in sounds {
            let glide = (GLIDE * rate).min(length as f64);
            let mut amplitudes = vec![0.0; harmonics];
            let mut now = before;
            for position in 0..length {
                // Resonances change slowly, so the harmonics are updated every two milliseconds.
                if position % (rate / 500.0) as usize == 0 {
                    now = before.towards(sound, (position as f64 / glide).min(1.0));
                    for (index, amplitude) in amplitudes.iter_mut().enumerate() {
                        *amplitude = self.passed(now, pitch * (index + 1) as f64);
                    }
                }
                let turn = 2.0 * PI * pitch * samples.len() as f64 / rate;
                let tone = amplitudes.iter().zip(1..).map(|(a, n)| a * sin(turn * f64::from(n)));
                let noise = now.noise * rng.random_range(-1.0..1.0);
                let value = now.loudness * ((1.0 - now.noise) * tone.sum::<f64>() + noise);
                samples.push((volume * value) as i16);
            }
            before = sound;
        }
        samples
    }

    /// Returns the amplitude with which the resonances of a sound pass a frequency.
    fn passed(self, sound: Sound, frequency: f64) -> f64 {
        let near = |resonance: f64| {
            let distance = (frequency - resonance * self.throat) / BREADTH;
            1.0 / (1.0 + distance * distance)
        };
        near(sound.resonances[0]) + 0.6 * near(sound.resonances[1])
    }
}

/// Returns a random length in samples within a range in seconds; the middle is more likely than the ends.
pub fn length(seconds: std::ops::Range<f64>, rate: u32, rng: &mut impl Rng) -> usize {
    let share = 0.5 - 0.5 * cos(PI * rng.random_range(0.0..1.0));
    let share = 0.5 * (share + rng.random_range(0.0..1.0));
    ((seconds.start + share * (seconds.end - seconds.start)) * f64::from(rate)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synthetic::generator;

    #[test]
    fn sounds_have_their_lengths_and_loudnesses() {
        let mut rng = generator(1, 1);
        let voice = Voice::random(&mut rng);
        let sounds = [(Sound::SILENCE, 800), (Sound::of(1), 1600), (Sound::SILENCE, 800)];
        let samples = voice.speak(&sounds, 16_000, &mut rng);
        assert_eq!(samples.len(), 3_200);
        let peak = |part: &[i16]| part.iter().map(|sample| sample.unsigned_abs()).max().unwrap();
        assert!(peak(&samples[..800]) < 100);
        assert!((1_000..30_000).contains(&peak(&samples[1_000..2_300])));
    }

    #[test]
    fn classes_sound_different() {
        for class in 0..39 {
            assert!((0..class).all(|other| Sound::of(other) != Sound::of(class)), "{class}");
            // Vowels' first resonance is that low, and telephones pass the second.
            let [low, high] = Sound::of(class).resonances;
            assert!(
                (250.0..800.0).contains(&low) && (900.0..3400.0).contains(&high),
                "{class}: {low} {high}"
            );
        }
    }
}
