"""Variants of adapter_config.json: adapters of PEFT for a small Llama, and their results."""

import copy
import json
import warnings

import peft
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, CONFIG_MAPPING

from models import ABSENT, TOKENS, Double, reference
from variants import BASES

warnings.simplefilter("ignore")
LAYERS = ["q_proj", "v_proj", "down_proj"]
# Options of LoraConfig with which an adapter is made, saved and loaded.
MADE = [
    {}, {"init_lora_weights": False}, {"init_lora_weights": "gaussian"}, {"init_lora_weights": "pissa"},
    {"init_lora_weights": "pissa_niter_4"}, {"init_lora_weights": "olora"},
    {"init_lora_weights": "orthogonal"}, {"init_lora_weights": "mica"},
    {"init_lora_weights": "eva"}, {"init_lora_weights": "lora_ga"}, {"init_lora_weights": "corda"},
    {"use_rslora": True}, {"use_rslora": True, "rank_pattern": {"q_proj": 2}},
    {"use_dora": True}, {"lora_bias": True},
    {"bias": "all"}, {"bias": "lora_only"}, {"rank_pattern": {"q_proj": 2}},
    {"rank_pattern": {"layers.0.self_attn.q_proj": 1, "down_proj": 5}},
    {"rank_pattern": {r".*\.1\..*": 3}}, {"rank_pattern": {"^model.layers.0.self_attn.v_proj": 6}},
    {"rank_pattern": {"proj": 3, "none_such": 2}},
    {"alpha_pattern": {"v_proj": 3}}, {"alpha_pattern": {r"layers\.1\.mlp\.down_proj": 30}},
    {"alpha_pattern": {"q_proj": 3}, "rank_pattern": {"q_proj": 2}},
    {"layers_to_transform": [1]}, {"layers_to_transform": 0},
    {"layers_to_transform": [1], "layers_pattern": "layers"},
    {"layers_to_transform": [0], "layers_pattern": ["blocks", "layers"]},
    {"target_modules": r".*\.(q|k)_proj"}, {"target_modules": "all-linear"},
    {"target_modules": ["model.layers.0.self_attn.o_proj"]},
    {"target_modules": ["q_proj", "lm_head"]}, {"target_modules": ["embed_tokens", "q_proj"]},
    {"exclude_modules": ["v_proj"]}, {"exclude_modules": r".*\.0\..*"},
    {"modules_to_save": ["lm_head"]}, {"modules_to_save": ["norm"]}, {"fan_in_fan_out": True},
    {"trainable_token_indices": [3, 5]}, {"target_parameters": ["lm_head.weight"]},
    {"layer_replication": [[0, 2], [1, 2]]}, {"lora_dropout": 0.3}, {"r": 1, "lora_alpha": 1},
    {"alora_invocation_tokens": [3, 17]}, {"ensure_weight_tying": True}, {"use_qalora": True},
]
# Changes of the file, after it was saved; the reference is what PEFT loads then.
CHANGED = [
    {name: value} for name, values in {
        "r": [ABSENT, 3, "4", None, 0, 4.5], "lora_alpha": [ABSENT, 3, 2.5, 0, -4, "7"],
        "use_rslora": [True, False, None, "yes"], "use_dora": [None, ABSENT],
        "init_lora_weights": [ABSENT, True, False, "gaussian", "eva", "orthogonal", "mica", "pissa",
                              "pissa_niter_2", "olora", "corda", "loftq", "lora_ga", "none such"],
        "rank_pattern": [ABSENT, None, {}, {"none_such": 9}], "alpha_pattern": [
            ABSENT, None, {"q_proj": 1}, {"proj": 20, "q_proj": 20}, {"q_proj": 1, ".*proj": 2}, {"(": 1}],
        "target_modules": [["q_proj"], ["q_proj", "v_proj", "down_proj", "o_proj"], [], None, ABSENT,
                           "all-linear", r".*q_proj", r".*\.(q_proj|v_proj|down_proj)", "(", ["proj"],
                           LAYERS + ["model.layers.0.self_attn.o_proj"]],
        "exclude_modules": [["q_proj"], [], None, r".*v_proj", ["model.layers.0.self_attn.q_proj"]],
        "layers_to_transform": [[0], [0, 1], 1, [], None], "bias": [ABSENT, "all", "lora_only"],
        "fan_in_fan_out": [True, ABSENT], "lora_dropout": [0.5, ABSENT], "modules_to_save": [[], None],
        "task_type": ["SEQ_CLS", None, ABSENT], "inference_mode": [False], "peft_version": [ABSENT],
        "loftq_config": [{"loftq_bits": 4}, None], "eva_config": [{"rho": 2.0}], "revision": ["main"],
        "megatron_core": ["x"], "qalora_group_size": [4], "use_qalora": [True],
        "base_model_name_or_path": ["other"], "auto_mapping": [{"a": "b"}], "lora_bias": [True],
        "runtime_config": [{"ephemeral_gpu_offload": False}], "corda_config": [{"verbose": True}],
        "peft_type": ["IA3", "LOHA", ABSENT], "trainable_token_indices": [[1]],
        "use_kasa": [True], "scaling_factor": [2.0], "lora_scale": [3], "_custom": [1],
        "merge_weights": [False], "enable_lora": [None, [True, False, True]],
    }.items() for value in values]
MUST = [{}, {"use_rslora": True}, {"fan_in_fan_out": True}, {"lora_dropout": 0.3},
        {"init_lora_weights": "gaussian"}, {"init_lora_weights": False}, {"layers_to_transform": [1]},
        {"rank_pattern": {"q_proj": 2}}, {"alpha_pattern": {"v_proj": 3}}, {"peft_version": ABSENT},
        {"exclude_modules": ["v_proj"]}, {"revision": "main"}, {"target_modules": "all-linear"},
        {"init_lora_weights": "orthogonal"}, {"merge_weights": False}, {"enable_lora": None}]


def make_base(state):
    with Double():
        model = AutoModelForCausalLM.from_config(CONFIG_MAPPING["llama"].from_dict(dict(BASES["llama"])),
                                                 dtype=torch.float64, attn_implementation="eager")
        model.load_state_dict({name: torch.as_tensor(value) for name, value in state.items()})
        return model.eval()


def values(model):
    with Double(), torch.no_grad():
        return model(torch.tensor(TOKENS)).logits.flatten().tolist()


def saved(base, options, path):
    """An adapter with random weights as PEFT saves it; those that PEFT cannot make are left out."""
    torch.manual_seed(5)
    model = get_peft_model(make_base(base).float(), LoraConfig(
        **{"r": 4, "lora_alpha": 6, "target_modules": LAYERS, "task_type": "CAUSAL_LM", **options}))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Of initializations that change the base, an untrained adapter equals the base.
            if "lora_" in name and "init_lora_weights" not in options:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    model.save_pretrained(path)
    (path / "README.md").unlink(missing_ok=True)


def loaded(base, path):
    try:
        # In single precision until PEFT has used the weights; rotary frequencies remain in double.
        model = make_base(base)
        for parameter in model.parameters():
            parameter.data = parameter.data.float()
        model = PeftModel.from_pretrained(model, path).eval()
        for parameter in model.parameters():
            parameter.data = parameter.data.double()
        return values(model)
    except Exception:
        return None


def jobs(folder):
    state, _, _ = reference("llama", BASES["llama"])
    # As PEFT has them: initializations by singular values are in single precision.
    state = {name: value.float().double() for name, value in state.items()}
    base = folder / "base"
    folder.mkdir(parents=True)
    base_folder = folder.parent / "adapters_base"
    base_folder.mkdir()
    save_file(state, base_folder / "model.safetensors")
    (base_folder / "config.json").write_text(json.dumps(BASES["llama"]))
    cases = [(f"made with {options}", options, {}) for options in MADE] + [
        (f"changed {{{next(iter(change))}: {'absent' if next(iter(change.values())) is ABSENT else next(iter(change.values()))}}}",
         {}, change) for change in CHANGED]
    for number, (shown, options, change) in enumerate(cases):
        path = folder / str(number)
        try:
            saved(state, copy.deepcopy(options), path)
        except Exception:
            saved(state, {}, path)
            change = {**options, **change}
        config = json.loads((path / "adapter_config.json").read_text())
        config = {name: value for name, value in {**config, **change}.items() if value is not ABSENT}
        (path / "adapter_config.json").write_text(json.dumps(config))
        result = loaded(state, path)
        job = {"kind": "adapters", "base": str(base_folder), "tokens": TOKENS}
        (path / "job.json").write_text(json.dumps(job))
        yield (path, f"adapters: {shown}", result and {"values": result},
               result is not None and (change or options) in MUST)
    assert peft and load_file and base
