"""Loads the files of saved_weights_test.cpp into the models of their layouts with all names
(strict=True), and the folders of language_models_test.cpp by from_pretrained, and compares outputs. Run by tests/state_dicts.sh.

python3 load_state_dicts.py FOLDER
"""

import json
import sys
from pathlib import Path

import h5py
import torch
import transformers
from nanogpt_form import NanoGpt

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
    print(f"{name:24} {difference:.1e}")
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

flat, nested = (read_state_dict(folder / name) for name in ("own.h5", "own_nested.h5"))
assert flat.keys() == nested.keys() and "1.ffn.dense2.bias" in flat
assert all(torch.equal(flat[name], nested[name]) for name in flat)
print(f"all names were taken; the largest difference of an output is {worst:.1e}")
