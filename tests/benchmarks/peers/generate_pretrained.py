"""The benchmark of generation by a model of Hugging Face with transformers: greedy, with its cache.

usage: generate_pretrained.py MODEL PROMPT NEW float32|bfloat16 THREADS SECONDS
prints: median_ms tokens prompt_ms peak_mib
"""
import sys

import torch
import transformers

from measure import median_ms, peak_mib

folder, prompt, new, precision = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
threads, seconds = int(sys.argv[5]), float(sys.argv[6])
torch.set_num_threads(threads)
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
model = transformers.AutoModelForCausalLM.from_pretrained(
    folder, dtype=getattr(torch, precision)).eval()
torch.manual_seed(0)
tokens = torch.randint(model.config.vocab_size, (1, prompt))
seen = torch.ones_like(tokens)


@torch.inference_mode()
def generate(count):
    result = model.generate(tokens, attention_mask=seen, max_new_tokens=count, min_new_tokens=count,
                            do_sample=False, use_cache=True)
    assert result.shape == (1, prompt + count), result.shape


prompt_ms = median_ms(lambda: generate(1), seconds, warmup=2, least=3)
ms = median_ms(lambda: generate(new), seconds, warmup=1, least=3)
print(f"{ms:.6f} {new} {prompt_ms:.6f} {peak_mib():.1f}")
