"""Writes the first steps of a training run in PyTorch, for tests/losses.sh: nanoGPT's recipe of
tests/benchmarks/peers/programs/nanogpt.py, from the same weights and batches in float and in double.

python3 write_losses.py TEXT FILE [STEPS]

    start/<name>                    the model's state_dict before training, in nanoGPT's layout
    inputs, targets                 [steps, 12, 64]
    learning_rates                  [steps]
    losses_float32, losses_float64  [steps], each before its update
"""

import copy
import sys
from pathlib import Path

import h5py
import numpy as np
import torch

sys.path.append(str(Path(__file__).parents[1] / "benchmarks/peers/programs"))
import nanogpt  # noqa: E402

steps = int(sys.argv[3]) if len(sys.argv) > 3 else 100
torch.manual_seed(1)
training, _, vocabulary = nanogpt.read_tokens(sys.argv[1])
start = nanogpt.new_model(vocabulary)
batches = [nanogpt.random_batch(training) for _ in range(steps)]
rates = [nanogpt.learning_rate(step) for step in range(steps)]

with h5py.File(sys.argv[2], "w") as file:
    for name, value in start.state_dict().items():
        file[f"start/{name}"] = value.numpy()
    file["inputs"], file["targets"] = (torch.stack(x).numpy().astype(np.int32)
                                       for x in zip(*batches))
    file["learning_rates"] = np.array(rates)
    for precision in (torch.float32, torch.float64):
        model = copy.deepcopy(start).to(precision)
        optimizer = nanogpt.new_optimizer(model)
        losses = [nanogpt.train_step(model, optimizer, batch, rate).item()
                  for batch, rate in zip(batches, rates)]
        file[f"losses_{str(precision).removeprefix('torch.')}"] = np.array(losses)
