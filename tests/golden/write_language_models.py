"""Writes language_models/: small random models of transformers as it saves them, one folder for each
form that Gpt has, with the logits of some tokens (expected.h5) in single and double precision, and
a continuation that always takes the most probable token."""

import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM

root = Path(__file__).with_name("language_models")
shutil.rmtree(root, ignore_errors=True)
sizes = {"vocab_size": 48, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 64, "bos_token_id": 1,
         "eos_token_id": 2, "pad_token_id": 0}
few_kv = {"num_key_value_heads": 2}
forms = {
    "llama": ("llama", {**few_kv, "rms_norm_eps": 1e-5}),
    "llama_tied": ("llama", {**few_kv, "tie_word_embeddings": True, "rope_theta": 100000.0}),
    "llama_biased": ("llama", {**few_kv, "attention_bias": True, "mlp_bias": True}),
    "llama_3": ("llama", {**few_kv, "rope_theta": 500000.0, "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16}}),
    "llama_linear": ("llama", {**few_kv, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}),
    "qwen2": ("qwen2", {**few_kv, "tie_word_embeddings": True}),
    "qwen3": ("qwen3", {**few_kv, "head_dim": 8}),
    "mistral": ("mistral", {**few_kv, "sliding_window": 5}),
    "gpt_neox": ("gpt_neox", {"hidden_size": 32, "rotary_pct": 0.5, "use_parallel_residual": True}),
    "gpt_neox_serial": ("gpt_neox", {"rotary_pct": 1.0, "use_parallel_residual": False}),
}
tokens = torch.tensor([[3, 17, 5, 9, 40, 22, 8, 31, 2, 6, 13, 47], [1, 1, 30, 12, 7, 44, 3, 19, 25, 11,
                                                                    4, 16]])
for seed, (name, (kind, options)) in enumerate(forms.items()):
    torch.manual_seed(seed)
    config = AutoConfig.for_model(kind, **{**sizes, **options}, attn_implementation="eager")
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.3 if parameter.dim() == 1 else 0.15))
    folder = root / name
    model.save_pretrained(folder)
    with torch.no_grad(), h5py.File(folder / "expected.h5", "w") as file:
        file["tokens"] = tokens.numpy().astype(np.int32)
        file["logits"] = model(tokens).logits.numpy()
        greedy = tokens[:1, :4]
        for _ in range(40):
            greedy = torch.cat([greedy, model(greedy).logits[:, -1:].argmax(-1)], 1)
        file["greedy"] = greedy[0].numpy().astype(np.int32)
        file["logits_double"] = model.double()(tokens).logits.numpy()
        model.float()

# The same numbers in other files.
model = AutoModelForCausalLM.from_pretrained(root / "llama")
model.save_pretrained(root / "llama_sharded", max_shard_size="8KB")
for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
    model.to(dtype).save_pretrained(root / f"llama_{name}")
    stored = AutoModelForCausalLM.from_pretrained(root / f"llama_{name}", dtype=torch.float32)
    with torch.no_grad(), h5py.File(root / f"llama_{name}" / "expected.h5", "w") as file:
        file["tokens"] = tokens.numpy().astype(np.int32)
        file["logits"] = stored(tokens).logits.numpy()
# Adapters of PEFT for llama, and the logits with them.
from peft import LoraConfig, get_peft_model  # noqa: E402

torch.manual_seed(99)
model = get_peft_model(AutoModelForCausalLM.from_pretrained(root / "llama").eval(), LoraConfig(
    r=3, lora_alpha=7, target_modules=["q_proj", "v_proj", "down_proj"]))
with torch.no_grad(), h5py.File(root / "lora.h5", "w") as file:
    for name, parameter in model.named_parameters():
        if "lora" in name:
            parameter.add_(torch.randn_like(parameter) * 0.2)
    file["tokens"] = tokens.numpy().astype(np.int32)
    file["logits"] = model(tokens).logits.numpy()
model.save_pretrained(root / "llama_lora")
config = json.loads((root / "llama_lora" / "adapter_config.json").read_text())
config["base_model_name_or_path"] = "../llama"
(root / "llama_lora" / "adapter_config.json").write_text(json.dumps(config, indent=2))
(root / "llama_lora" / "README.md").unlink(missing_ok=True)
(root / "lora.h5").rename(root / "llama_lora" / "expected.h5")
for folder in root.iterdir():
    (folder / "generation_config.json").unlink(missing_ok=True)
