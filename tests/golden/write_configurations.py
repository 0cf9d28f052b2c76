"""Writes configurations.json and configurations.h5: changes of the config.json, or adapter_config.json,
of folders in language_models/, and what transformers and PEFT then compute in double precision: the
last position's logits of two texts, or states of a Bert. An entry that is null in "changes" is
removed from the file.

The changes are of entries that other entries replace, that models read in different ways, and that
files leave out. Needs torch, transformers, peft and h5py."""

import json
import shutil
import tempfile
from pathlib import Path

import h5py
import numpy as np
import torch
import transformers
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

transformers.logging.set_verbosity_error()
root = Path(__file__).parent
LINEAR = {"rope_type": "linear", "factor": 4.0}
BAND = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
VARIANTS = {
    "rope_scaling replaces rope_parameters": ("llama", {
        "rope_scaling": LINEAR, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}),
    "rope_scaling replaces rope_parameters, rope_theta stands beside it": ("llama", {
        "rope_scaling": LINEAR, "rope_parameters": {"rope_theta": 500.0}, "rope_theta": 90.0}),
    "the base in rope_scaling": ("llama", {
        "rope_scaling": {"rope_type": "default", "rope_theta": 77.0}, "rope_parameters": None}),
    "the base in rope_scaling precedes the one beside it": ("llama", {
        "rope_scaling": {"rope_theta": 77.0}, "rope_parameters": None, "rope_theta": 90.0}),
    "an empty rope_scaling": ("llama", {
        "rope_scaling": {}, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}),
    "the older name of rope_type": ("llama", {
        "rope_scaling": {"type": "linear", "factor": 2.0}, "rope_parameters": None}),
    "both names of rope_type": ("llama", {
        "rope_parameters": {"type": "linear", "rope_type": "default", "factor": 2.0}}),
    "a part of the head that Llama ignores": ("llama", {
        "rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 0.5}}),
    "a part of the head that Qwen3 ignores": ("qwen3", {
        "rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 0.5}}),
    "a band without original_max_position_embeddings": ("llama", {"rope_parameters": BAND}),
    "original_max_position_embeddings beside a band": ("llama", {
        "rope_parameters": {**BAND, "original_max_position_embeddings": 32},
        "original_max_position_embeddings": 8}),
    "the default eps of Llama": ("llama", {"rms_norm_eps": None}),
    "windows of all layers of Qwen2": ("qwen2", {
        "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 0, "layer_types": None}),
    "windows of Qwen2 in layer_types": ("qwen2", {
        "use_sliding_window": True, "sliding_window": 3,
        "layer_types": ["sliding_attention", "sliding_attention"]}),
    "no layer of Qwen2 has its window": ("qwen2", {
        "use_sliding_window": True, "sliding_window": 3, "layer_types": None}),
    "no layer of Mistral has its window": ("mistral", {
        "layer_types": ["full_attention", "full_attention"]}),
    "all layers of Mistral have its window": ("mistral", {
        "layer_types": ["sliding_attention", "sliding_attention"]}),
    "the default part and base of GPT-NeoX": ("gpt_neox", {
        "rope_parameters": None, "rotary_pct": None, "rotary_emb_base": None}),
    "rotary_pct of GPT-NeoX": ("gpt_neox", {"rope_parameters": None, "rotary_pct": 0.75}),
    "rope_scaling of GPT-NeoX": ("gpt_neox", {
        "rope_scaling": {"type": "linear", "factor": 3.0}, "rotary_pct": 0.5, "rotary_emb_base": 50}),
    "the default eps of GPT-NeoX": ("gpt_neox", {"layer_norm_eps": None}),
    "the second name of n_head": ("gpt2", {"num_attention_heads": 2}),
    "gelu_fast": ("gpt2", {"activation_function": "gelu_fast"}),
    "gelu_python": ("gpt2", {"activation_function": "gelu_python"}),
    "the default eps of GPT-2": ("gpt2", {"layer_norm_epsilon": None}),
    "n_embed precedes hidden_size": ("bloom", {"n_embed": 24, "hidden_size": 48}),
    "the default eps of BERT": ("bert", {"layer_norm_eps": None}),
    "padding in the text of RoBERTa": ("roberta", {}),
    "rank-stabilized adapters": ("llama_lora", {"use_rslora": True}),
    "patterns of alpha": ("llama_lora", {
        "alpha_pattern": {"v_proj": 3, r"layers\.1\.mlp\.down_proj": 20}}),
    "adapters of an initialization that keeps the base": ("llama_lora", {
        "init_lora_weights": "eva", "fan_in_fan_out": True}),
}
TOKENS = torch.tensor([[3, 17, 5, 9, 40, 22, 8, 31, 2, 6, 13, 47], [1, 9, 30, 1, 7, 44, 3, 19, 1, 11, 4, 16]])


class Double:
    """transformers computes norms and rotary positions in single precision in double models, too;
    within this, in double."""

    def __enter__(self):
        self.saved = torch.float, torch.float32, torch.Tensor.float
        torch.float = torch.float32 = torch.float64
        torch.Tensor.float = torch.Tensor.double

    def __exit__(self, *_):
        torch.float, torch.float32, torch.Tensor.float = self.saved


def model_of(folder, kind=AutoModelForCausalLM):
    weights = {name.replace("embed_out.", "lm_head."): value  # as transformers names it
               for name, value in load_file(folder / "model.safetensors").items()}
    with Double():
        config = AutoConfig.from_pretrained(folder)
        model = kind.from_config(config, dtype=torch.float64, attn_implementation="eager")
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    return model.eval()


with h5py.File(root / "configurations.h5", "w") as file:
    listed = []
    for index, (name, (folder, changes)) in enumerate(VARIANTS.items()):
        with tempfile.TemporaryDirectory() as work:
            path = Path(shutil.copytree(root / "language_models" / folder, Path(work) / "model"))
            config = path / ("adapter_config.json" if "lora" in folder else "config.json")
            entries = {**json.loads(config.read_text()), **changes}
            config.write_text(json.dumps({key: value for key, value in entries.items()
                                          if value is not None or key not in changes}))
            if "lora" in folder:
                model = PeftModel.from_pretrained(model_of(root / "language_models" / "llama"), path)
                model = model.double().eval()
            else:
                model = model_of(path, AutoModel if "bert" in folder else AutoModelForCausalLM)
        with Double(), torch.no_grad():
            result = model(TOKENS, attention_mask=torch.ones_like(TOKENS))[0]
        file[f"values/{index}"] = result[:, -1].numpy()
        listed.append({"name": name, "folder": folder, "changes": changes})
    file["tokens"] = TOKENS.numpy().astype(np.int32)
(root / "configurations.json").write_text(json.dumps(listed, indent=1) + "\n")
