"""Gives the datasets of an HDF5 file with a BERT of Hugging Face the names of weft's parameters.

usage: weft_names.py FILE
"""

import sys

import h5py

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

with h5py.File(sys.argv[1], "a") as file:
    for name in list(file):
        renamed = name
        for theirs, weft in NAMES.items():
            renamed = renamed.replace(theirs, weft)
        if renamed != name:
            file.move(name, renamed)
