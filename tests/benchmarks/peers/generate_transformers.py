"""The benchmark of generation with transformers: greedy, with its cache of keys and values.

usage: generate_transformers.py LAYERS HEADS WIDTH VOCABULARY POSITIONS BATCH PROMPT NEW THREADS
       SECONDS [float32|bfloat16]
prints: median_ms tokens prompt_ms peak_mib
"""
import torch

from generation import arguments, random_model, random_prompts, report

options = arguments("generate_transformers.py", ["float32", "bfloat16"])
model = random_model(options).to(getattr(torch, options.precision))
prompts = random_prompts(options)
seen = torch.ones_like(prompts)


@torch.inference_mode()
def generate(count):
    tokens = model.generate(prompts, attention_mask=seen, max_new_tokens=count, do_sample=False,
                            use_cache=True, pad_token_id=0)
    assert tokens.shape == (options.batch, options.prompt + count), tokens.shape


report(generate, options)
