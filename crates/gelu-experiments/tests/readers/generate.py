#!/usr/bin/env python3
"""Reference values for `Analysis`: writes chirp-16k.wav, speech-8k.wav and features.csv beside itself.

usage: python3 generate.py        (numpy 2)

Written from the definitions in the HTK Book, sections 5.2 to 5.9, without fast transforms: the
spectrum is a matrix of complex exponentials, a filter is a triangle evaluated on the mel scale, a
derivative is the slope of a least-squares line through five frames.
"""
import pathlib
import wave

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def write(name, rate, samples):
    with wave.open(str(HERE / name), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples, dtype="<i2").tobytes())


def mel(frequency):
    return 1127 * np.log(1 + frequency / 700)


def triangle(position, left, peak, right):
    rising = (position - left) / (peak - left)
    falling = (right - position) / (right - peak)
    return np.maximum(0, np.minimum(rising, falling))


def features(samples, rate):
    samples = np.asarray(samples, dtype=np.float64)
    window, step = rate * 25 // 1000, rate // 100
    length = 1
    while length < window:
        length *= 2
    starts = range(0, len(samples) - window + 1, step)
    frames = np.stack([samples[start:start + window] for start in starts])

    energy = np.log(np.maximum(1, (frames**2).sum(axis=1)))
    emphasised = frames.copy()
    emphasised[:, 1:] -= 0.97 * frames[:, :-1]
    emphasised[:, 0] *= 1 - 0.97
    windowed = emphasised * (0.54 - 0.46 * np.cos(2 * np.pi * np.arange(window) / (window - 1)))
    bins = np.arange(length // 2 + 1)
    exponentials = np.exp(-2j * np.pi * np.outer(np.arange(window), bins) / length)
    magnitude = np.abs(windowed @ exponentials)

    edges = np.linspace(0, mel(rate / 2), 28)
    heights = mel(bins * rate / length)
    bank = np.stack([triangle(heights, *edges[j:j + 3]) for j in range(26)])
    logs = np.log(np.maximum(1, magnitude @ bank.T))

    cepstra = np.empty((len(frames), 12))
    for i in range(1, 13):
        cosine = np.sqrt(2 / 26) * np.cos(np.pi * i / 26 * (np.arange(1, 27) - 0.5))
        cepstra[:, i - 1] = (logs @ cosine) * (1 + 22 / 2 * np.sin(np.pi * i / 22))
    statics = np.column_stack([cepstra, energy])

    padded = np.concatenate([statics[:1]] * 2 + [statics] + [statics[-1:]] * 2)
    slopes = [np.polyfit(np.arange(-2, 3), padded[t:t + 5], 1)[0] for t in range(len(statics))]
    return np.column_stack([statics, np.stack(slopes)])


def main():
    random = np.random.default_rng(16)
    time = np.arange(1600) / 16000
    chirp = 9000 * np.sin(2 * np.pi * (200 * time + 30000 * time**2)) + random.normal(0, 40, 1600)
    chirp[1000:] *= 0.02
    time = np.arange(1000) / 8000
    speech = sum(3000 / k * np.sin(2 * np.pi * 120 * k * time) for k in range(1, 30))
    speech = speech * (0.2 + np.sin(np.pi * 8 * time) ** 2) + random.normal(0, 5, 1000)
    speech[500:] = 0  # digital silence, which has no logarithm of its own

    rows = ["file,frame," + ",".join(f"c{i}" for i in range(26))]
    for name, rate, sound in [("chirp-16k.wav", 16000, chirp), ("speech-8k.wav", 8000, speech)]:
        sound = np.clip(np.rint(sound), -32768, 32767)
        write(name, rate, sound)
        for index, row in enumerate(features(sound, rate)):
            rows.append(f"{name},{index}," + ",".join(f"{value:.7g}" for value in row))
    (HERE / "features.csv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
