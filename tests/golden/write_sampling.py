"""Writes sampling.h5: next-token probabilities by the logits processors of transformers, in double.

    <case>/logits           [V], exact in float too
    <case>/context          the tokens that the repetition penalty applies to
    <case>/options          temperature, top_k, top_p, min_p, repetition_penalty
    <case>/probabilities    [V]

Needs transformers, torch, numpy and h5py. The file in the repository was written with transformers
5.23 and torch 2.13.
"""

import pathlib

import h5py
import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, GenerationConfig
from transformers.generation import LogitsProcessorList

CASES = [
    # temperature, top_k, top_p, min_p, repetition_penalty
    (1.0, 0, 1.0, 0.0, 1.0),
    (0.7, 0, 1.0, 0.0, 1.0),
    (2.5, 0, 1.0, 0.0, 1.0),
    (1.0, 1, 1.0, 0.0, 1.0),
    (1.0, 7, 1.0, 0.0, 1.0),
    (1.0, 500, 1.0, 0.0, 1.0),
    (1.0, 0, 0.1, 0.0, 1.0),
    (1.0, 0, 0.8, 0.0, 1.0),
    (1.0, 0, 0.99, 0.0, 1.0),
    (1.0, 0, 1.0, 0.02, 1.0),
    (1.0, 0, 1.0, 0.5, 1.0),
    (1.0, 0, 1.0, 0.0, 1.4),
    (1.0, 0, 1.0, 0.0, 0.6),
    (0.8, 30, 0.9, 0.0, 1.0),
    (1.5, 30, 0.9, 0.1, 1.0),
    (1.5, 0, 0.6, 0.1, 1.1),
    (0.5, 40, 0.95, 0.05, 1.3),
]


def processors(temperature, top_k, top_p, min_p, repetition_penalty):
    """Those that `generate` makes of these options, in its order."""
    config = GenerationConfig(do_sample=True, temperature=temperature, top_k=top_k, top_p=top_p,
                              min_p=min_p or None, repetition_penalty=repetition_penalty)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=4, n_embd=4, n_layer=1, n_head=1))
    return model._get_logits_processor(config, input_ids_seq_length=1,
                                       logits_processor=LogitsProcessorList())


random = np.random.default_rng(4)
with h5py.File(pathlib.Path(__file__).with_name("sampling.h5"), "w", libver="v108") as file:
    for i, options in enumerate(CASES):
        vocabulary = (5, 40, 300)[i % 3]
        logits = (2 * random.normal(size=vocabulary)).astype(np.float32).astype(np.float64)
        context = random.integers(0, vocabulary, size=12).astype(np.int32)
        scores = processors(*options)(torch.tensor(context)[None].long(),
                                      torch.tensor(logits)[None])
        case = file.create_group(f"{i:02}")
        case["logits"], case["context"] = logits, context
        case["options"] = np.array(options, dtype=np.float64)
        case["probabilities"] = scores.softmax(-1)[0].numpy()
