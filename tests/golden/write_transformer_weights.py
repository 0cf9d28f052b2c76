"""Writes gpt_*.h5 and bert_*.h5: small random models as state_dicts of a model of nanoGPT's form
and of transformers, and in the layout of transformers' tf_model.h5, with inputs and outputs of the
models in transformer_values.h5.

python3 write_transformer_weights.py
"""

from pathlib import Path

import h5py
import torch
import transformers
from nanogpt_form import NanoGpt

folder = Path(__file__).parent
vocabulary, time, width, heads, blocks = 29, 16, 12, 3, 2
torch.manual_seed(1)
tokens = torch.randint(0, vocabulary, (3, 7))


def randomize(model):
    """Biases and scales, which start as zeros and ones, become distinguishable."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape))
    return model.eval()


def write(name, state_dict, prefix="", nested=False):
    with h5py.File(folder / name, "w") as file:
        for key, value in state_dict.items():
            file[prefix + (key.replace(".", "/") if nested else key)] = value.numpy()


def write_tensorflow(name, state_dict, group, leaves):
    """The layout of transformers' TensorFlow models, which cannot be installed with transformers 5:
    Keras writes the weights of each top-level layer below a group of its name, under the names of
    its variables, which end with ":0". Lists of layers are "h_._0". A Conv1D and a Dense are
    [in_features, out_features], and the bias of a Conv1D [1, out_features]."""
    with h5py.File(folder / name, "w") as file:
        file.attrs["layer_names"] = [group.split("/")[0]]
        file.attrs["backend"] = "tensorflow"
        for key, value in state_dict.items():
            module, leaf = key.rsplit(".", 1)
            path = f"{group}/{module.replace('.', '/')}/{leaves(module, leaf)}:0"
            for number in range(blocks):
                path = path.replace(f"/{number}/", f"_._{number}/")
            file[path] = value.numpy()


nano = randomize(NanoGpt(vocabulary, time, width, heads, blocks))
state_dict = nano.state_dict()
write("gpt_nano.h5", state_dict)
write("gpt_nano_compiled.h5", {"_orig_mod." + key: value for key, value in state_dict.items()})

gpt = randomize(
    transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=vocabulary, n_positions=time, n_embd=width, n_head=heads, n_layer=blocks
        )
    )
)
gpt_state = gpt.state_dict()
write("gpt_huggingface.h5", gpt_state, nested=True)
# Files of older versions have the causal masks.
old = dict(gpt.transformer.state_dict())
for block in range(blocks):
    old[f"h.{block}.attn.bias"] = torch.ones(time, time, dtype=torch.bool).tril()[None, None]
    old[f"h.{block}.attn.masked_bias"] = torch.tensor(-1e4)
write("gpt_huggingface_old.h5", old)


def gpt_leaf(module, leaf):
    if "ln_" in module:
        return {"weight": "gamma", "bias": "beta"}[leaf]
    return "embeddings" if module.endswith("wpe") else leaf


flat = {
    key: value[None] if key.endswith("bias") and "ln_" not in key else value
    for key, value in gpt.transformer.state_dict().items()
}
write_tensorflow("gpt_tensorflow.h5", flat, "transformer/tfgpt2lm_head_model/transformer", gpt_leaf)

bert = randomize(
    transformers.BertModel(
        transformers.BertConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            num_hidden_layers=blocks,
            num_attention_heads=heads,
            intermediate_size=20,
            max_position_embeddings=time,
        )
    )
)
bert_state = bert.state_dict()
write("bert_huggingface.h5", bert_state)
write(
    "bert_sentence_transformers.h5",
    {**bert_state, "embeddings.position_ids": torch.arange(time)[None]},
    prefix="0.auto_model.",
)
# With a head beside the model, and the names of norms in files of before 2019.
masked = {
    "bert." + key.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
        "LayerNorm.bias", "LayerNorm.beta"
    ): value
    for key, value in bert_state.items()
}
masked["cls.predictions.bias"] = torch.zeros(vocabulary)
write("bert_masked.h5", masked)


def bert_leaf(module, leaf):
    if module.endswith("LayerNorm"):
        return {"weight": "gamma", "bias": "beta"}[leaf]
    if module.endswith(("position_embeddings", "token_type_embeddings")):
        return "embeddings"
    return "kernel" if leaf == "weight" and "embeddings" not in module else leaf


turned = {
    key: value.T.contiguous() if value.dim() == 2 and "embeddings" not in key else value
    for key, value in bert_state.items()
}
write_tensorflow("bert_tensorflow.h5", turned, "bert/tf_bert_model/bert", bert_leaf)

segments = (tokens % 2 == 0).long()
with torch.no_grad(), h5py.File(folder / "transformer_values.h5", "w") as file:
    file["tokens"] = tokens.int().numpy()
    file["segments"] = segments.int().numpy()
    file["gpt_nano"] = nano(tokens).numpy()
    file["gpt_huggingface"] = gpt(tokens).logits.numpy()
    result = bert(tokens, token_type_ids=segments)
    file["bert"] = result.last_hidden_state.numpy()
    file["bert_pooled"] = result.pooler_output.numpy()
