"""Writes generation.h5: what transformers' greedy search writes after prompts of different lengths.

    weights/<name>      the state_dict of a random GPT-2, exact in float
    prompts             [20, 40], ids, of which each prompt is the first `lengths`
    lengths             [20]
    results             [20, 100], by the model in double

Needs transformers, torch, numpy and h5py. The file in the repository was written with transformers
5.23 and torch 2.13.
"""

import pathlib

import h5py
import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

VOCABULARY, PROMPTS, LONGEST, NEW = 61, 20, 40, 100

torch.manual_seed(2)
model = GPT2LMHeadModel(GPT2Config(
    vocab_size=VOCABULARY, n_positions=LONGEST + NEW, n_embd=24, n_layer=2, n_head=3,
    tie_word_embeddings=False, bos_token_id=None, eos_token_id=None)).eval()
# Larger than training starts with, so that the texts do not repeat themselves at once.
for parameter in model.parameters():
    parameter.data += torch.randn_like(parameter) * (0.6 if parameter.dim() > 1 else 0.1)
weights = {name: value.numpy().copy() for name, value in model.state_dict().items()}
model = model.double()
lengths = 1 + torch.randperm(LONGEST)[:PROMPTS]
prompts = torch.randint(VOCABULARY, (PROMPTS, LONGEST))
results, margins = [], []
for prompt, length in zip(prompts, lengths):
    prompt = prompt[None, :length]
    tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=NEW,
                            do_sample=False, pad_token_id=0)
    results.append(tokens[0, length:].numpy())
    with torch.no_grad():
        best = model(tokens).logits[0, length - 1:-1].topk(2).values
    margins.append((best[:, 0] - best[:, 1]).min().item())
# Each token was chosen by a margin far above rounding errors in float.
assert min(margins) > 1e-4, min(margins)
counts = [len(set(result)) for result in results]
assert min(counts) > 5 and max(counts) > 20, counts

with h5py.File(pathlib.Path(__file__).with_name("generation.h5"), "w", libver="v108") as file:
    for name, value in weights.items():
        file[f"weights/{name}"] = value
    file["prompts"], file["lengths"] = (x.numpy().astype(np.int32) for x in (prompts, lengths))
    file["results"] = np.stack(results).astype(np.int32)
