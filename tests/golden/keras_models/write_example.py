"""Writes examples/data/sines.keras, a small model that Keras trained to predict the next value of a series,
and examples/data/sines.csv, examples of another series.

KERAS_BACKEND=tensorflow python3 write_example.py
"""

from pathlib import Path

import keras
import numpy as np
from keras import layers

data = Path(__file__).parents[3] / "examples/data"
random = np.random.default_rng(1)
time = 12


def examples(count, slow, fast):
    """Windows of a sum of two sines with noise, and the value after each."""
    t = random.uniform(0, 50, (count, 1)) + 0.3 * np.arange(time + 1)
    x = np.sin(slow * t) + 0.5 * np.sin(fast * t) + 0.02 * random.standard_normal(t.shape)
    return x[:, :-1, None], x[:, -1:]


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((time, 1), name="series"),
                          layers.Conv1D(8, 3, padding="causal", activation="relu"),
                          layers.GRU(8), layers.Dense(1)], name="forecast")
model.compile("adam", "mean_squared_error")
model.fit(*examples(2000, 1, 2.7), epochs=20, verbose=0)
model.save(data / "sines.keras")
x, y = examples(300, 1.2, 2)
np.savetxt(data / "sines.csv", np.hstack([x[..., 0], y]), "%.3f", ",", comments="",
           header=",".join([f"x{i}" for i in range(time)] + ["next"]))
