"""Compares tokens and vectors of weft's `embed` with those of transformers.

usage: compare_sentences.py MODEL TEXTS TOKENS VECTORS

MODEL is a folder of Hugging Face's; TOKENS is what `embed --tokens` printed, VECTORS the file of
`embed --vectors`. Fails when tokens differ, or a number of a vector by more than 1e-5.
"""

import json
import pathlib
import sys

import h5py
import torch
import transformers

BOUND = 1e-5


def read_lines(path):
    return pathlib.Path(path).read_text("utf-8").removesuffix("\n").split("\n")


def vectors(model, tokenizer, ids):
    """In batches of texts of similar lengths, as padding takes most of the time otherwise."""
    result = torch.empty(len(ids), model.config.hidden_size, dtype=model.dtype)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    for begin in range(0, len(order), 32):
        rows = order[begin:begin + 32]
        batch = tokenizer.pad({"input_ids": [ids[i] for i in rows]}, return_tensors="pt")
        with torch.inference_mode():
            states = model(**batch).last_hidden_state
        seen = batch["attention_mask"][..., None].to(states.dtype)
        means = (states * seen).sum(1) / seen.sum(1)
        result[rows] = torch.nn.functional.normalize(means, dim=1)
    return result


def compare_tokens(tokenizer, texts, ids, path):
    lines = read_lines(path)
    assert len(lines) == len(texts), f"expected {len(texts)} lines of tokens, got {len(lines)}"
    different = [i for i, line in enumerate(lines)
                 if line.split(" ") != tokenizer.convert_ids_to_tokens(ids[i])]
    for i in different[:5]:
        print(f"line {i + 1}: {texts[i]!r}\n  weft     {lines[i]}\n  expected "
              + " ".join(tokenizer.convert_ids_to_tokens(ids[i])))
    print(f"tokens: {len(texts) - len(different)} of {len(texts)} lines are equal, "
          f"{sum(map(len, ids))} tokens in all")
    return not different


def compare_vectors(folder, tokenizer, ids, path):
    with h5py.File(path) as file:
        actual = torch.from_numpy(file["vectors"][:])
    largest = 0.0
    for dtype in (torch.float32, torch.float64):
        model = transformers.AutoModel.from_pretrained(folder, dtype=dtype).eval()
        difference = (actual - vectors(model, tokenizer, ids)).abs().max().item()
        print(f"vectors: largest difference from transformers in {str(dtype)[6:]} "
              f"{difference:.1e} (bound {BOUND:.0e})")
        largest = max(largest, difference)
    return largest <= BOUND


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder, texts, tokens, vector_file = sys.argv[1:]
    texts = read_lines(texts)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    config = json.loads(pathlib.Path(folder, "sentence_bert_config.json").read_text("utf-8"))
    ids = [tokenizer(text, truncation=True, max_length=config["max_seq_length"]).input_ids
           for text in texts]
    equal = compare_tokens(tokenizer, texts, ids, tokens)
    close = compare_vectors(folder, tokenizer, ids, vector_file)
    sys.exit(0 if equal and close else 1)
