"""Loads the files of saved_weights_test.cpp into the models of their layouts with all names
(strict=True), and the folders of language_models_test.cpp by from_pretrained, and compares
outputs. Run by tests/state_dicts.sh.

python3 load_state_dicts.py FOLDER
"""

import json
import sys
from pathlib import Path

import h5py
import safetensors.torch
import torch
import transformers
from nanogpt_form import NanoGpt
from torch import nn

sys.path.append(str(Path(__file__).parents[2] / "examples"))
from load_state_dict import read_state_dict  # noqa: E402

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
folder = Path(sys.argv[1])
vocabulary, time, width, heads, blocks = 29, 16, 12, 3, 2
worst = 0.0


def compare(name, actual, expected, bound):
    global worst
    difference = (actual - torch.tensor(expected[()])).abs().max().item()
    print(f"{name:36} {difference:.1e}")
    if bound == 1e-5:
        worst = max(worst, difference)
    assert difference < bound, name


def gpt2(tied):
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=vocabulary,
            n_positions=time,
            n_embd=width,
            n_head=heads,
            n_layer=blocks,
            tie_word_embeddings=tied,
        )
    )


def nanogpt(tied):
    model = NanoGpt(vocabulary, time, width, heads, blocks)
    if not tied:
        model.lm_head.weight = torch.nn.Parameter(torch.zeros(vocabulary, width))
    return model


with torch.no_grad(), h5py.File(folder / "outputs.h5") as outputs:
    tokens = torch.tensor(outputs["tokens"][()]).long()
    segments = torch.tensor(outputs["segments"][()]).long()
    for output, make, tied in (
        ("nanogpt", nanogpt, True),
        ("nanogpt_untied", nanogpt, False),
        ("gpt2", gpt2, True),
        ("gpt2_untied", gpt2, False),
        ("gpt2_unbiased", gpt2, True),
    ):
        for suffix, bound in (("", 1e-5), ("_float16", 0.05)):
            model = make(tied).eval()
            model.load_state_dict(read_state_dict(folder / f"{output}{suffix}.h5"), strict=True)
            result = model(tokens)
            compare(output + suffix, getattr(result, "logits", result), outputs[output], bound)
    bert = transformers.BertModel(
        transformers.BertConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            num_hidden_layers=blocks,
            num_attention_heads=heads,
            intermediate_size=20,
            max_position_embeddings=time,
        )
    ).eval()
    bert.load_state_dict(read_state_dict(folder / "bert.h5"), strict=True)
    result = bert(tokens, token_type_ids=segments)
    compare("bert", result.last_hidden_state, outputs["bert"], 1e-5)
    compare("bert, pooled", result.pooler_output, outputs["bert_pooled"], 1e-5)

# The folders of language_models_test.cpp give what the folders give that they were made from.
originals = Path(__file__).parent / "language_models"
inputs = torch.tensor([[3, 17, 5, 9, 40, 22, 8, 31, 6, 13], [4, 11, 30, 12, 7, 44, 3, 19, 25, 16]])
for path in sorted(folder.glob("*/config.json")):
    name = path.parent.name
    architecture = json.loads(path.read_text())["architectures"][0]
    results = []
    for where in (path.parent, originals / name):
        model, loading = getattr(transformers, architecture).from_pretrained(
            where, output_loading_info=True)
        unread = {kind: list(names) for kind, names in loading.items() if names}
        assert not unread, f"{where}: {unread}"
        targets = {"decoder_input_ids": inputs.flip(0)} if model.config.is_encoder_decoder else {}
        with torch.no_grad():
            results.append(model(inputs, **targets)[:2])
    equal = all(torch.equal(a, b) for a, b in zip(*results) if torch.is_tensor(a))
    print(f"{name:24} {'equal' if equal else 'different'} to the original, by from_pretrained")
    assert equal, name

# Modules of PyTorch.
layer = {"d_model": width, "nhead": heads, "dim_feedforward": 8, "dropout": 0.0, "batch_first": True}
before = {**layer, "norm_first": True, "activation": "gelu"}
states = {"input_size": width, "hidden_size": 6, "num_layers": 2, "bidirectional": True,
          "batch_first": True}


class Tagger(nn.Module):
    """The model of the same name in saved_weights_test.cpp."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(29, width)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), 1)
        self.states = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Sequential(nn.Linear(width, 8), nn.Linear(8, 4))

    def forward(self, tokens):
        return self.head(self.states(self.encoder(self.tokens(tokens)))[0])


def encoder(norm=None, **options):
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(**options), 2, norm,
                                 enable_nested_tensor=False)


def decoder(norm=None, **options):
    return nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), 2, norm)


def attention(**options):
    return nn.MultiheadAttention(width, heads, batch_first=True, **options)


def causal(module, target, memory):
    mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
    return module(target, memory, tgt_mask=mask)


modules = {
    "encoder": lambda: encoder(**layer),
    "encoder_before": lambda: encoder(nn.LayerNorm(width), **before),
    "encoder_biased": lambda: encoder(**layer),
    "encoder_unbiased": lambda: encoder(**layer, bias=False),
    "encoder_layer": lambda: nn.TransformerEncoderLayer(**layer),
    "decoder": lambda: decoder(**layer),
    "decoder_before": lambda: decoder(nn.LayerNorm(width), **before),
    "decoder_layer": lambda: nn.TransformerDecoderLayer(**layer, bias=False),
    "transformer": lambda: nn.Transformer(width, heads, 2, 2, 8, 0.0, batch_first=True),
    "attention": attention,
    "attention_unbiased": lambda: attention(bias=False),
    "attention_partly_biased": attention,
    "attention_of_sizes": lambda: attention(kdim=7, vdim=7),
    "self_attention": attention,
    "gru": lambda: nn.GRU(**states),
    "lstm": lambda: nn.LSTM(**states),
    "rnn": lambda: nn.RNN(**states),
    "conv1d": lambda: nn.Conv1d(width, 7, 3),
    "linear": lambda: nn.Linear(width, 4),
    "layer_norm": lambda: nn.LayerNorm(width),
    "layer_norm_unbiased": lambda: nn.LayerNorm(width, bias=False),
    "batch_norm": lambda: nn.BatchNorm1d(width),
    "rms_norm": lambda: nn.RMSNorm(width, eps=1e-5),
    "embedding": lambda: nn.Embedding(29, 4),
    "tagger": Tagger,
}
with torch.no_grad(), h5py.File(folder / "outputs.h5") as outputs:
    x, memory = (torch.tensor(outputs[name][()]) for name in ("x", "memory"))

    def output_of(name, module):
        if name.startswith("attention"):
            keys = memory[..., :7] if name == "attention_of_sizes" else memory
            return module(x, keys, keys)[0]
        if name == "self_attention":
            return module(x, x, x)[0]
        if name.startswith("decoder"):
            return causal(module, x, memory)
        if name == "transformer":
            return causal(module.decoder, memory, module.encoder(x))
        if name in ("conv1d", "batch_norm"):
            return module(x.mT).mT
        if name == "embedding":
            return module(torch.tensor([[3, 0, 28]]))
        if name == "tagger":
            return module(torch.tensor([[3, 0, 28], [7, 7, 1]]))
        result = module(x)
        return result[0] if isinstance(result, tuple) else result

    written = {path.stem for path in folder.glob("torch_*.safetensors")}
    assert written == {f"torch_{name}" for name in modules}, written
    for name, make in modules.items():
        for state_dict in (
            read_state_dict(folder / f"torch_{name}.h5"),
            read_state_dict(folder / f"torch_{name}_nested.h5"),
            safetensors.torch.load_file(folder / f"torch_{name}.safetensors"),
        ):
            module = make().eval()
            module.load_state_dict(state_dict, strict=True)
            compare(f"torch.nn, {name}", output_of(name, module), outputs[f"torch_{name}"], 1e-5)

    sizes = {"vocab_size": vocabulary, "hidden_size": width}
    llama = {**sizes, "intermediate_size": 20, "num_hidden_layers": blocks,
             "num_attention_heads": heads, "num_key_value_heads": 1, "rms_norm_eps": 1e-5}
    for name, model in {
        "llama": transformers.LlamaForCausalLM(
            transformers.LlamaConfig(**llama, tie_word_embeddings=False)),
        "llama_tied": transformers.LlamaForCausalLM(
            transformers.LlamaConfig(**llama, tie_word_embeddings=True)),
        "gpt_neox": transformers.GPTNeoXForCausalLM(
            transformers.GPTNeoXConfig(**sizes, num_hidden_layers=blocks, intermediate_size=48,
                                       num_attention_heads=heads, rotary_pct=1.0)),
        "bloom": transformers.BloomForCausalLM(
            transformers.BloomConfig(**sizes, n_layer=blocks, n_head=heads)),
        "t5": transformers.T5ForConditionalGeneration(
            transformers.T5Config(vocab_size=vocabulary, d_model=width, d_kv=4, d_ff=20,
                                  num_layers=blocks, num_heads=heads)),
    }.items():
        state_dict = read_state_dict(folder / f"{name}.h5")
        if name == "gpt_neox" and "lm_head.weight" in model.state_dict():
            # The name in transformers 5, whose from_pretrained reads the older one.
            state_dict["lm_head.weight"] = state_dict.pop("embed_out.weight")
        model.eval().load_state_dict(state_dict, strict=True)
        targets = {"decoder_input_ids": segments} if name == "t5" else {}
        compare(name, model(tokens, **targets).logits, outputs[name], 1e-5)

print(f"all names were taken; the largest difference of an output is {worst:.1e}")
