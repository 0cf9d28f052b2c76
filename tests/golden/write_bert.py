"""Writes bert.h5: results and gradients of transformers' BertModel with random weights, in double.

Cases are groups as in layers.h5, with the tokens and segments beside them, and the weights under
weft's names.

Needs torch, transformers, numpy and h5py. The file in the repository was written with torch 2.13
and transformers 5.
"""

import pathlib

import h5py
import torch
import transformers

from write_layers import normal, randomized, write

TOKENS = torch.tensor([[3, 1, 3, 6, 2], [5, 4, 0, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 0, 0, 0]])
LENGTHS = [5, 2]
NAMES = {
    "embeddings.word_embeddings": "tokens",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "segments",
    "embeddings.LayerNorm": "norm",
    "encoder.layer": "blocks",
    "attention.self.query": "attention.W_q",
    "attention.self.key": "attention.W_k",
    "attention.self.value": "attention.W_v",
    "attention.output.dense": "attention.W_o",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "ffn.dense1",
    "output.LayerNorm": "norm2",
    "output.dense": "ffn.dense2",
    "pooler.dense": "pooler",
}


def weft_name(name):
    for theirs, weft in NAMES.items():
        name = name.replace(theirs, weft)
    return name


def write_bert(file, name, has_pooler):
    config = transformers.BertConfig(
        vocab_size=7, hidden_size=6, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=8, max_position_embeddings=9, type_vocab_size=2,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, pad_token_id=None,
        attn_implementation="eager")
    model = randomized(transformers.BertModel(config, add_pooling_layer=has_pooler))
    time = TOKENS.shape[1]
    seen = (torch.arange(time) < torch.tensor(LENGTHS)[:, None]).long()
    result = model(input_ids=TOKENS, token_type_ids=SEGMENTS, attention_mask=seen)
    output = result.pooler_output if has_pooler else result.last_hidden_state
    upstream = normal(*output.shape)
    output.backward(upstream)
    group = file.create_group(name)
    write(group, {"output": output, "upstream": upstream, "tokens": TOKENS.int(),
                  "segments": SEGMENTS.int(), "valid_lens": torch.tensor(LENGTHS).int()})
    parameters = {weft_name(n): p for n, p in model.named_parameters()}
    write(group.create_group("parameters"), parameters)
    write(group.create_group("parameter_gradients"), {n: p.grad for n, p in parameters.items()})


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.double)
    path = pathlib.Path(__file__).parent / "bert.h5"
    with h5py.File(path, "w", libver="v108") as output_file:
        write_bert(output_file, "states", False)
        write_bert(output_file, "pooled", True)
