"""Writes language_models/: small random models of transformers as it saves them, one folder for each
form that Gpt, EncoderDecoder and Bert have, with the logits of some tokens (expected.h5) in single
and double precision, and a continuation that always takes the most probable token; of a Bert, the
states and the pooled ones.

With names as arguments, it writes only the folders of these names."""

import json
import shutil
import sys
from pathlib import Path

import h5py
import numpy as np
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM
from transformers.models.t5.modeling_t5 import T5LayerNorm

root = Path(__file__).with_name("language_models")
wanted = sys.argv[1:]
if not wanted:
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
    # 6 heads: of which ALiBi has two kinds of slopes.
    "bloom": ("bloom", {"num_attention_heads": 6, "intermediate_size": None,
                        "max_position_embeddings": None}),
    "gpt2": ("gpt2", {"intermediate_size": None, "n_inner": 40}),
}
tokens = torch.tensor([[3, 17, 5, 9, 40, 22, 8, 31, 2, 6, 13, 47], [1, 1, 30, 12, 7, 44, 3, 19, 25, 11,
                                                                    4, 16]])

def randomized(model, deviation):
    """Not as small as the initial weights, and no biases of 0."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.3 if parameter.dim() == 1 else deviation))
    return model.eval()


def written(name, model):
    model.save_pretrained(root / name)
    (root / name / "generation_config.json").unlink(missing_ok=True)
    return h5py.File(root / name / "expected.h5", "w")


for seed, (name, (kind, options)) in enumerate(forms.items()):
    if wanted and name not in wanted:
        continue
    torch.manual_seed(seed)
    config = AutoConfig.for_model(kind, **{**sizes, **options}, attn_implementation="eager")
    model = randomized(AutoModelForCausalLM.from_config(config), 0.15)
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

# T5: of the first form, and of the later ones, whose output layer is their own where it is in the
# files, as in those of Flan-T5.
t5 = {"vocab_size": 48, "d_model": 24, "d_kv": 10, "d_ff": 40, "num_layers": 2, "num_heads": 4,
      "relative_attention_num_buckets": 12, "relative_attention_max_distance": 20,
      "decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0}
sources = torch.tensor([[30, 4, 17, 22, 9, 41, 5, 28, 33, 12, 1], [7, 19, 3, 44, 8, 1, 0, 0, 0, 0, 0]])
targets = torch.tensor([[0, 17, 5, 9, 40, 22, 8, 31, 2, 6, 13, 47, 20, 11, 9, 35],
                        [0, 30, 12, 7, 44, 3, 19, 25, 11, 4, 16, 5, 8, 9, 10, 23]])
rounding = T5LayerNorm.forward


def normalized(norm, x):
    """T5LayerNorm, which also in double precision rounds the mean of squares to single."""
    return norm.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + norm.variance_epsilon)


for seed, (name, options) in enumerate({
        "t5": {"num_decoder_layers": 3},
        "t5_gated": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
        "t5_flan": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}}.items()):
    if wanted and name not in wanted:
        continue
    torch.manual_seed(100 + seed)
    model = AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model("t5", **{**t5, **options}))
    if name == "t5_flan":
        model.lm_head.weight = torch.nn.Parameter(torch.randn(48, 24))
    randomized(model, 0.4)
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            if parameter_name.endswith(".q.weight"):
                parameter.mul_(0.2)  # scores that are not scaled
    inputs = {"input_ids": sources, "attention_mask": (sources != 0).long()}
    with torch.no_grad(), written(name, model) as file:
        file["sources"] = sources.numpy().astype(np.int32)
        file["targets"] = targets.numpy().astype(np.int32)
        for suffix in ("", "_double"):
            result = model(**inputs, decoder_input_ids=targets)
            file["logits" + suffix] = result.logits.numpy()
            file["states" + suffix] = result.encoder_last_hidden_state.numpy()
            if not suffix:
                file["greedy"] = model.generate(
                    **inputs, do_sample=False, num_beams=1, max_new_tokens=60,
                    use_cache=False).numpy().astype(np.int32)
            model.double()
            T5LayerNorm.forward = normalized
    T5LayerNorm.forward = rounding
    if name == "t5_flan":
        # As the older files have it.
        config = json.loads((root / name / "config.json").read_text())
        config["tie_word_embeddings"] = False
        del config["scale_decoder_outputs"]
        (root / name / "config.json").write_text(json.dumps(config, indent=2))

# Bert and RoBERTa, whose positions begin after that of padding.
lengths = torch.tensor([12, 7])
for seed, (name, options) in enumerate({
        "bert": {"type_vocab_size": 2}, "roberta": {"type_vocab_size": 1, "pad_token_id": 1}}.items()):
    if wanted and name not in wanted:
        continue
    torch.manual_seed(200 + seed)
    model = randomized(AutoModel.from_config(AutoConfig.for_model(name, **{**sizes, **options})), 0.15)
    mask = (torch.arange(12) < lengths[:, None]).long()
    padded = torch.where(mask == 1, tokens.clamp(min=3), model.config.pad_token_id)
    with torch.no_grad(), written(name, model) as file:
        file["tokens"] = padded.numpy().astype(np.int32)
        file["lengths"] = lengths.numpy().astype(np.int32)
        for suffix in ("", "_double"):
            result = model(padded, attention_mask=mask)
            file["states" + suffix] = result.last_hidden_state.numpy()
            file["pooled" + suffix] = result.pooler_output.numpy()
            model.double()
if wanted:
    sys.exit()

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
