"""Compares tokens and vectors of weft's `embed` with those of transformers.

usage: compare_sentences.py MODEL TEXTS TOKENS VECTORS

MODEL is a folder of Hugging Face's; TOKENS is what `embed --tokens` printed, VECTORS the file of
`embed --vectors`. Fails when tokens differ, or a number of a vector by more than 1e-5.
"""

import pathlib
import sys

import h5py
import torch
import transformers

BOUND = 1e-5


def read_lines(path):
    return pathlib.Path(path).read_text("utf-8").removesuffix("\n").split("\n")


def vectors(model, batch):
    with torch.inference_mode():
        states = model(**batch).last_hidden_state
    seen = batch["attention_mask"][..., None].to(states.dtype)
    return torch.nn.functional.normalize((states * seen).sum(1) / seen.sum(1), dim=1)


def compare_tokens(tokenizer, texts, path, max_length):
    ids = [tokenizer(text, truncation=True, max_length=max_length).input_ids for text in texts]
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


def compare_vectors(folder, tokenizer, texts, path, max_length):
    with h5py.File(path) as file:
        actual = torch.from_numpy(file["vectors"][:])
    close = True
    for dtype in (torch.float32, torch.float64):
        model = transformers.AutoModel.from_pretrained(folder, dtype=dtype).eval()
        expected = [vectors(model, tokenizer(texts[i:i + 32], truncation=True, padding=True,
                                             max_length=max_length, return_tensors="pt"))
                    for i in range(0, len(texts), 32)]
        difference = (actual - torch.cat(expected)).abs().max().item()
        print(f"vectors: largest difference from {str(dtype)[6:]} {difference:.1e} "
              f"(bound {BOUND:.0e})")
        close = close and difference <= BOUND
    return close


if __name__ == "__main__":
    folder, texts, tokens, vector_file = sys.argv[1:]
    texts = read_lines(texts)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    # That of sentence_bert_config.json.
    max_length = 256
    equal = compare_tokens(tokenizer, texts, tokens, max_length)
    close = compare_vectors(folder, tokenizer, texts, vector_file, max_length)
    sys.exit(0 if equal and close else 1)
