"""Times the predictions of a model in Keras. Prints the milliseconds to load it and to predict one sequence,
after the imports, of which a program in Python needs more, and the medians for one sequence and for a batch of
32: first_ms one_ms many_ms, and the milliseconds of the imports.

KERAS_BACKEND=jax python3 keras_predict.py MODEL LENGTH VOCABULARY SECONDS
"""

import time

start = time.perf_counter()

import statistics
import sys

import keras
import numpy as np

imported = time.perf_counter()
path, length, vocabulary, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
random = np.random.default_rng(1)
model = keras.models.load_model(path, compile=False)


def inputs(batch):
    values = []
    for tensor in model.inputs:
        shape = [batch, *(length if n is None else n for n in tensor.shape[1:])]
        values.append(random.integers(1, vocabulary, shape).astype("int32") if vocabulary
                      else random.standard_normal(shape).astype("float32"))
    return values if len(values) > 1 else values[0]


# model.predict compiles the model, model(x) does not: the faster one counts.
def call(x):
    return keras.tree.map_structure(keras.ops.convert_to_numpy, model(x, training=False))


def predict(x):
    return model.predict_on_batch(x)


def median(function, x):
    function(x), function(x)
    times = []
    begin = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < seconds / 2:
        t = time.perf_counter()
        function(x)
        times.append(time.perf_counter() - t)
    return 1e3 * statistics.median(times)


one, many = inputs(1), inputs(32)
call(one)
first = 1e3 * (time.perf_counter() - imported)
print(f"{first:.3f} {min(median(call, one), median(predict, one)):.4f} "
      f"{min(median(call, many), median(predict, many)):.4f} {1e3 * (imported - start):.0f}")
