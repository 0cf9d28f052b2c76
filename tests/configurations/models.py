"""Variants of config.json: the models, and the results of transformers."""

import dataclasses
import json
import os
import tempfile
import types
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import (AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM,  # noqa: E402
                          CONFIG_MAPPING, PreTrainedConfig)

from variants import BASES, HARMLESS, OTHERS, UNKNOWN, VALUES  # noqa: E402

transformers.logging.set_verbosity(50)
transformers.logging.disable_progress_bar()
warnings.simplefilter("ignore")
torch.set_num_threads(1)

TOKENS = [[3, 17, 5, 9, 40, 22, 8, 31, 2, 6, 13, 47], [1, 1, 30, 12, 7, 44, 3, 19, 25, 11, 4, 16]]
SOURCES = [[30, 4, 17, 22, 9, 41, 5, 28, 33, 12, 1], [7, 19, 3, 44, 8, 1, 20, 11, 9, 35, 1]]
ABSENT = object()


class Double:
    """transformers computes norms and rotary positions in single precision in double models, too;
    within this, in double."""

    def __enter__(self):
        self.saved = torch.float, torch.float32, torch.Tensor.float
        torch.float = torch.float32 = torch.float64
        torch.Tensor.float = torch.Tensor.double
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_):
        torch.set_default_dtype(self.saved[0])
        torch.float, torch.float32, torch.Tensor.float = self.saved


def is_small(config):
    """Whether a model has few weights: the defaults of classes have billions."""
    size = max(getattr(config, name, None) or 0
               for name in ("hidden_size", "intermediate_size", "d_ff", "n_inner"))
    layers = max(getattr(config, name, None) or 0
                 for name in ("num_hidden_layers", "num_decoder_layers"))
    heads = max(getattr(config, name, None) or 0
                for name in ("num_key_value_heads", "num_attention_heads"))
    head = getattr(config, "head_dim", None) or 0
    tables = [getattr(config, name, None) or 0 for name in ("vocab_size", "max_position_embeddings")]
    return size <= 512 and layers <= 50 and heads * head <= 5000 and max(tables) <= 300000


def reference(kind, entries):
    """The weights and what transformers computes with them; None where it cannot."""
    try:
        with Double():
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "config.json").write_text(json.dumps(entries))
                config = AutoConfig.from_pretrained(folder)
            if not is_small(config):
                return None
            config._attn_implementation, config.return_dict = "eager", True
            factory = {"t5": AutoModelForSeq2SeqLM, "bert": AutoModel, "roberta": AutoModel}.get(
                kind, AutoModelForCausalLM)
            model = factory.from_config(config, dtype=torch.float64, attn_implementation="eager").eval()
            generator = torch.Generator().manual_seed(7)
            with torch.no_grad():
                for name, parameter in model.named_parameters():
                    width = 0.3 if parameter.dim() == 1 else 0.15
                    noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                    parameter.copy_(noise * width + ("norm" in name.lower() or "ln_" in name)
                                    * (parameter.dim() == 1) * 1.0)
                    if name.endswith(".q.weight"):
                        parameter.mul_(0.2)
                tokens = torch.tensor(TOKENS)
                inputs = {"attention_mask": torch.ones_like(tokens)}
                if kind == "t5":
                    inputs = {"decoder_input_ids": tokens}
                    tokens = torch.tensor(SOURCES)
                result = model(tokens, **inputs, return_dict=True)
                values = result[0] if kind in ("bert", "roberta") else result.logits
                if not torch.isfinite(values).all():
                    return None
            state, seen = {}, set()
            for name, value in model.state_dict().items():
                if value.data_ptr() not in seen:
                    # In files, GPT-NeoX has another name.
                    state[name.replace("lm_head.", "embed_out.") if kind == "gpt_neox" else name] = (
                        value.contiguous())
                    seen.add(value.data_ptr())
            return state, values.flatten().tolist(), config
    except Exception:  # whatever transformers refuses
        return None


def ends(kind, entries, config):
    """The tokens that end a text, those that can be generated."""
    ids = entries.get("eos_token_id", getattr(config, "eos_token_id", None))
    ids = ids if isinstance(ids, list) else [] if ids is None else [ids]
    return [token for token in ids if 0 <= token < config.vocab_size]


def other_values(name, hint, value):
    """Values of an entry to try: absent, null, the default, others of its type, and other types."""
    yield "absent", ABSENT
    yield "null", None
    if name in VALUES:
        yield from ((repr(one), one) for one in VALUES[name])
    elif "bool" in hint:
        yield from (("false", False), ("true", True))
    elif "int" in hint and "float" not in hint and isinstance(value, int):
        yield from ((str(one), one) for one in (value, value * 2, max(1, value // 2), 0, -1))
    elif "float" in hint and isinstance(value, (int, float)):
        yield from ((str(one), one) for one in (value, value * 3 + 0.01, 0.0))
    yield "a text", "text"
    yield "a list", [1]
    if "int" in hint or "bool" in hint:
        yield "1.5", 1.5


def variants(kind, base):
    yield "as it is", {}, True
    common = {field.name for field in dataclasses.fields(PreTrainedConfig)}
    for field in dataclasses.fields(CONFIG_MAPPING[kind]):
        name = field.name
        # What all classes have is tried with an encoder and a decoder.
        if name in common and kind not in ("llama", "bert"):
            continue
        if name.startswith("_") or isinstance(field.default, types.MemberDescriptorType):
            continue
        default = None if field.default is dataclasses.MISSING else field.default
        value = base.get(name, default)
        for shown, other in other_values(name, str(field.type), value):
            yield f"{name} {shown}", {name: other}, False
    for name, value in {**HARMLESS["all"], **HARMLESS[kind]}.items():
        yield f"{name} {value} (harmless)", {name: value}, True
    for name, value in UNKNOWN.items():
        yield f"{name} {value} (unknown)", {name: value}, False
    for change in OTHERS.get(kind, []):
        change = dict(change)
        must = change.pop("must be accepted", False)
        yield json.dumps(change), {name: ABSENT if value == "ABSENT" else value
                                   for name, value in change.items()}, must


def jobs(folder):
    for kind, base in BASES.items():
        whole = reference(kind, base)
        assert whole, kind
        for number, (shown, change, must) in enumerate(variants(kind, base)):
            entries = {name: value for name, value in {**base, **change}.items() if value is not ABSENT}
            generation = entries.pop("generation_config.json", None)
            result = reference(kind, entries)
            path = folder / f"{kind}-{number}"
            path.mkdir(parents=True)
            state, values, config = result or whole
            save_file(state, path / "model.safetensors")
            (path / "config.json").write_text(json.dumps(entries))
            if generation is not None:
                (path / "generation_config.json").write_text(json.dumps(generation))
            job = {"kind": "bert" if kind == "roberta" else kind, "tokens": TOKENS, "sources": SOURCES}
            (path / "job.json").write_text(json.dumps(job))
            expected = {"values": values} if result else None
            if expected and kind not in ("bert", "roberta"):
                expected["ends"] = ends(kind, {**entries, **(generation or {})}, config)
            yield path, f"{kind}: {shown}", expected, must
