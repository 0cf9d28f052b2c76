"""Writes model.h5, config.json and greedy.txt beside the vocabulary in byte_pair_encoding/: a small
random GPT2LMHeadModel of transformers, and how its greedy search continues a prompt."""

from pathlib import Path

import h5py
import torch
from transformers import GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast

folder = Path(__file__).with_name("byte_pair_encoding")
torch.manual_seed(4)
tokenizer = GPT2TokenizerFast.from_pretrained(str(folder))
config = GPT2Config(vocab_size=len(tokenizer), n_positions=48, n_embd=12, n_layer=2, n_head=3,
                    bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config).double().eval()
for parameter in model.parameters():
    parameter.data = torch.randn_like(parameter) * (0.6 if parameter.dim() > 1 else 0.1)
    parameter.data = parameter.data.float().double()
config.save_pretrained(folder)

with h5py.File(folder / "model.h5", "w") as file:
    for name, value in model.state_dict().items():
        if name != "lm_head.weight":  # the same as wte
            file[name] = value.float().numpy()

ids = tokenizer("weaver's or thread 12", return_tensors="pt").input_ids
with torch.no_grad():
    greedy = model.generate(ids, do_sample=False, max_new_tokens=36, pad_token_id=0)
    # Each token was chosen by a margin far above rounding errors.
    best = model(greedy).logits[0, ids.shape[1] - 1:-1].topk(2).values
    assert (best[:, 0] - best[:, 1]).min() > 1e-3
text = tokenizer.decode(greedy[0], clean_up_tokenization_spaces=False)
assert "\ufffd" in text and len(set(greedy[0].tolist())) > 15
(folder / "greedy.txt").write_text(text + "\n", "utf-8")
