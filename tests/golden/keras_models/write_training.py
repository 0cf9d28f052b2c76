"""Writes training.zip: three small models for 100 steps of plain SGD, NAME.keras, and train.h5
with the inputs NAME/x and targets NAME/y, one batch per step, and the losses before each step in both
precisions, NAME/float32 and NAME/float64.

KERAS_BACKEND=tensorflow python3 write_training.py

With PyTorch as backend, Keras multiplies matrices in single precision.
"""

import os
import tempfile
import zipfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import h5py
import keras
import numpy as np
from keras import layers

batch, steps, time, vocabulary, rate = 8, 100, 10, 12, 0.125
Input, Sequential = keras.Input, keras.Sequential


def text_generation(random):
    """The next token of sequences that count upwards."""
    model = Sequential([Input((time,), dtype="int32"), layers.Embedding(vocabulary, 8),
                        layers.LSTM(8), layers.Dense(vocabulary, "softmax")])
    start = random.integers(0, vocabulary, (steps, batch, 1))
    x = (start + np.arange(time + 1)) % vocabulary
    x = x.astype("int32")
    return model, "sparse_categorical_crossentropy", x[..., :-1], x[..., -1:]


def sentiment(random):
    """Whether a padded sequence has more tokens of the upper half; padding in front and behind."""
    model = Sequential([Input((time,), dtype="int32"), layers.Embedding(vocabulary, 8, mask_zero=True),
                        layers.Bidirectional(layers.LSTM(6)), layers.Dense(1, "sigmoid")])
    x = random.integers(1, vocabulary, (steps, batch, time))
    y = (x > vocabulary // 2).mean(-1, keepdims=True) > 0.45
    for row in range(batch):
        count = row // 2
        x[:, row, slice(count) if row % 2 else slice(time - count, None)] = 0
    return model, "binary_crossentropy", x.astype("int32"), y.astype("float32")


def time_series(random):
    """The next value of a sum of two sines."""
    model = Sequential([Input((time, 1)), layers.Conv1D(6, 3, padding="causal", activation="relu"),
                        layers.GRU(6), layers.Dense(1)])
    t = random.uniform(0, 50, (steps, batch, 1)) + 0.3 * np.arange(time + 1)
    x = np.sin(t) + 0.5 * np.sin(2.7 * t)
    x = x.astype("float32")
    return model, "mean_squared_error", x[..., :-1, None], x[..., -1:]


def losses(name, build, dtype, weights=None):
    """Trains a model, and returns its batches and losses. Saves it before in single precision."""
    keras.utils.clear_session()  # also forgets the type
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)
    keras.utils.set_random_seed(1)
    random = np.random.default_rng(1)
    model, loss, x, y = build(random)
    # Weights that float32 holds exactly, the same for both types.
    model.set_weights(weights or [
        (w + 0.05 * random.standard_normal(w.shape)).astype("float32") for w in model.get_weights()])
    weights = model.get_weights()
    if dtype == "float32":
        model.save(folder / f"{name}.keras")
    model.compile(keras.optimizers.SGD(rate), loss)
    function = keras.losses.get(loss)
    values = []
    for i in range(steps):
        given = x[i].astype(dtype) if x.dtype.kind == "f" else x[i]
        wanted = y[i].astype(dtype) if y.dtype.kind == "f" else y[i]
        prediction = model(given, training=False)
        values.append(np.mean(function(keras.ops.convert_to_tensor(wanted), prediction).numpy()))
        model.train_on_batch(given, wanted)
    return x, y, np.array(values), weights


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    with h5py.File(folder / "train.h5", "w") as file:
        for build in (text_generation, sentiment, time_series):
            group = file.create_group(build.__name__)
            group["x"], group["y"], group["float32"], weights = losses(build.__name__, build, "float32")
            group["float64"] = losses(build.__name__, build, "float64", weights)[2]
            print(build.__name__, group["float64"][0], group["float64"][-1])
    target = Path(__file__).parent / "training.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.writestr(zipfile.ZipInfo(path.name, (1980, 1, 1, 0, 0, 0)), path.read_bytes(),
                             zipfile.ZIP_DEFLATED)
