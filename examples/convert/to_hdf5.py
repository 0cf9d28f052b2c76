"""Converts the weights of a PyTorch model to HDF5.

usage: to_hdf5.py SOURCE OUTPUT

SOURCE is a .safetensors file or a state_dict written by torch.save, and OUTPUT an HDF5 file. Or SOURCE
is a Hugging Face model folder with model.safetensors or pytorch_model.bin (in one or several parts), and
OUTPUT a folder, to which model.h5 and the configuration and vocabulary files are written.

Every floating-point tensor becomes a dataset of the same name. bfloat16, which HDF5 does not support,
is converted to float32. Needs torch, safetensors and h5py.
"""

import json
import pathlib
import shutil
import sys

import h5py
import safetensors.torch
import torch

COPIED = ["config.json", "generation_config.json", "tokenizer_config.json", "special_tokens_map.json",
          "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "modules.json",
          "sentence_*_config.json", "config_sentence_transformers.json", "*_Pooling/config.json",
          "*_Dense/config.json", "*_Dense/model.safetensors"]


def read_weights(path):
    if path.suffix == ".safetensors":
        return safetensors.torch.load_file(path)
    weights = torch.load(path, map_location="cpu", weights_only=True)
    # Training programs often save the weights together with the state of the optimizer.
    for key in ("state_dict", "model"):
        if isinstance(weights.get(key), dict):
            return weights[key]
    return weights


def read_folder(folder):
    for pattern in ("model*.safetensors", "pytorch_model*.bin"):
        if files := sorted(folder.glob(pattern)):
            return {name: tensor for file in files for name, tensor in read_weights(file).items()}
    sys.exit(f"to_hdf5: {folder}: expected model.safetensors or pytorch_model.bin, got neither")


def write_weights(weights, path):
    with h5py.File(path, "w") as file:
        for name, tensor in weights.items():
            if not torch.is_tensor(tensor) or not tensor.is_floating_point():
                print(f"left out {name}: not a floating-point tensor")
                continue
            if tensor.dtype == torch.bfloat16:
                tensor = tensor.float()
            file.create_dataset(name, data=tensor.contiguous().numpy())
        print(f"wrote {len(file)} tensors to {path}")


def copy_vocabulary(source, output):
    for path in (path for pattern in COPIED for path in source.glob(pattern)):
        copy = output / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    if (source / "tokenizer.json").exists():
        model = json.loads((source / "tokenizer.json").read_text("utf-8"))["model"]
        write_vocabulary(model, output)
        if model.get("type") == "WordPiece":  # vocab.txt lacks its added tokens
            shutil.copyfile(source / "tokenizer.json", output / "tokenizer.json")


def write_vocabulary(model, output):
    """Writes the vocabulary of a tokenizer.json to separate files, as other models have them."""
    ids = model.get("vocab")
    if model.get("type") == "WordPiece" and not (output / "vocab.txt").exists():
        lines = sorted(ids, key=ids.get)
        (output / "vocab.txt").write_text("".join(line + "\n" for line in lines), "utf-8")
    if model.get("type") == "BPE" and not (output / "merges.txt").exists():
        pairs = (pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"])
        (output / "merges.txt").write_text("".join(pair + "\n" for pair in pairs), "utf-8")
        (output / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False), "utf-8")


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit("\n".join(__doc__.splitlines()[2:]).strip())
    source, output = map(pathlib.Path, sys.argv[1:])
    if not source.exists():
        sys.exit(f"to_hdf5: {source}: no such file or folder")
    if output.exists() and output.samefile(source):
        sys.exit(f"to_hdf5: {output}: expected a path other than the source, got the source")
    if source.is_dir():
        weights = read_folder(source)
        output.mkdir(parents=True, exist_ok=True)
        copy_vocabulary(source, output)
        write_weights(weights, output / "model.h5")
    else:
        write_weights(read_weights(source), output)


if __name__ == "__main__":
    main()
