"""Writes generation.h5: what transformers' greedy search writes after prompts of different lengths.

    weights/<name>      the state_dict of a random GPT-2, exact in float
    prompts             [20, 40], ids, of which each prompt is the first `lengths`
    lengths             [20]
    results             [20, 100], by the model in double
    no_repeat           [20, 100], with no_repeat_ngram_size=3
    ended               [20, 100], with eos_token_id=range(0, 61, 5) and min_new_tokens=25, -1 after the end
    beams               [20, 20], with num_beams=4 and no_repeat_ngram_size=2, after a prompt of one token

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

def continuations(prompts, count, **options):
    rows = []
    for prompt in prompts:
        prompt = prompt[None]
        tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=count,
                                do_sample=False, pad_token_id=0, **options)[0, prompt.shape[1]:]
        rows.append(np.full(count, -1, np.int32))
        rows[-1][:len(tokens)] = tokens.numpy()
        ended = np.isin(rows[-1], options.get("eos_token_id", []))
        if ended.any():
            rows[-1][ended.argmax():] = -1
    return np.stack(rows)


of_lengths = [prompt[:length] for prompt, length in zip(prompts, lengths)]
more = {
    "no_repeat": continuations(of_lengths, NEW, no_repeat_ngram_size=3),
    "ended": continuations(of_lengths, NEW, eos_token_id=list(range(0, VOCABULARY, 5)), min_new_tokens=25),
    "beams": continuations(torch.arange(20)[:, None], 20, num_beams=4, no_repeat_ngram_size=2,
                           length_penalty=0.0),
}
assert (more["no_repeat"] != np.stack(results)).any(1).sum() > 10
assert (more["ended"] == -1).any(1).sum() > 10 and len(set((more["ended"] == -1).sum(1))) > 3

counts = [len(set(result)) for result in results]
assert min(counts) > 5 and max(counts) > 20, counts

with h5py.File(pathlib.Path(__file__).with_name("generation.h5"), "w", libver="v108") as file:
    for name, value in weights.items():
        file[f"weights/{name}"] = value
    file["prompts"], file["lengths"] = (x.numpy().astype(np.int32) for x in (prompts, lengths))
    file["results"] = np.stack(results).astype(np.int32)
    for name, values in more.items():
        file[name] = values
