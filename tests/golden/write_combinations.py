"""Writes combinations.json: small tokenizer.json files drawn at random (tests/tokenizers/combinations.py),
with texts, their ids, and what ids decode to, by Hugging Face's tokenizers."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenizers"))
import combinations  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402


def is_ambiguous(file):
    """Whether added tokens become equal when they are normalized: the library chooses one at random."""
    normalizer = Tokenizer.from_str(json.dumps(file)).normalizer
    texts = [token["content"] for token in file["added_tokens"] if token["normalized"]]
    if normalizer:
        texts = [normalizer.normalize_str(text) for text in texts]
    return len(set(texts)) < len(texts)


combinations.chance.seed(5)
content = []
while len(content) < 30:
    case, right = combinations.draw()
    if "error" in right or len(json.dumps(case["tokenizer"])) > 3500 or is_ambiguous(case["tokenizer"]):
        continue
    results = right["encoded"] + right["decoded"]
    if sum("error" in one for one in results if isinstance(one, dict)) == 0:
        content.append(case | right)
Path(__file__).with_name("combinations.json").write_text(
    json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace('{"tokenizer"', '\n{"tokenizer"') + "\n")
