"""The benchmark of fine-tuning with transformers and PEFT.

usage: finetune_peft.py adapters MODEL RANK OUT
       writes adapters of the attention's queries and values, as they are before training
       finetune_peft.py MODEL TEXT ADAPTERS|- BATCH LENGTH STEPS PRECISION RECOMPUTE THREADS
       PRECISION: full; bf16, torch.autocast; or bf16-weights, which the model is loaded with
prints: losses, one a line, then: median_ms tokens peak_mib
"""
import sys
import time

import torch
import torch.nn.functional as F
import transformers
from peft import LoraConfig, PeftModel, get_peft_model

from measure import peak_mib

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def load(folder, dtype=torch.float32):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)


def write_adapters(folder, rank, out):
    torch.manual_seed(0)
    config = LoraConfig(r=int(rank), lora_alpha=16, target_modules=["q_proj", "v_proj"],
                        task_type="CAUSAL_LM")
    get_peft_model(load(folder), config).save_pretrained(out)


def main():
    folder, text, adapters = sys.argv[1:4]
    batch, length, steps = map(int, sys.argv[4:7])
    precision, recompute, threads = sys.argv[7], sys.argv[8] == "1", int(sys.argv[9])
    torch.set_num_threads(threads)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(
        open(text, encoding="utf-8").read(), add_special_tokens=False)["input_ids"]
    tokens = torch.tensor(tokens)
    model = load(folder, torch.bfloat16 if precision == "bf16-weights" else torch.float32)
    if adapters != "-":
        model = PeftModel.from_pretrained(model, adapters, is_trainable=True)
    model.train()
    if recompute:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable({"use_reentrant": False})
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-5 if adapters == "-" else 2e-4, weight_decay=0.0)
    times = []
    for step in range(steps):
        start = time.perf_counter()
        window = tokens[step * batch * length:(step + 1) * batch * length + 1]
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits = model(input_ids=window[:-1].view(batch, length), use_cache=False).logits
            loss = F.cross_entropy(logits.flatten(0, 1).float(), window[1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter() - start)
        print(f"{loss.item():.9g}")
    times = sorted(times[2:])
    print(f"{1e3 * times[len(times) // 2]:.3f} {batch * length} {peak_mib():.1f}")


if sys.argv[1] == "adapters":
    write_adapters(*sys.argv[2:5])
else:
    main()
