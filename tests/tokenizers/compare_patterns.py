"""compare_patterns.py PROGRAM WORK: compares Split, with each behavior, inverted and not, and Replace
of PROGRAM (run_cases.cpp) with those of Hugging Face's tokenizers, for the expressions and texts of
patterns.py. What the library refuses has to be refused."""

import json
import subprocess
import sys
from pathlib import Path

from tokenizers import Regex, normalizers, pre_tokenizers

from patterns import BEHAVIORS, EXPRESSIONS, TEXTS, UNCERTAIN

program, work = sys.argv[1], Path(sys.argv[2])
NAMES = {"Removed": "removed", "Isolated": "isolated", "MergedWithPrevious": "merged_with_previous",
         "MergedWithNext": "merged_with_next", "Contiguous": "contiguous"}


def value_of(call):
    try:
        return call()
    except BaseException as error:  # the library panics
        return {"error": str(error)}


cases, expected = [], []
for expression in EXPRESSIONS:
    pattern = {"Regex": expression}
    for behavior in BEHAVIORS:
        for invert in (False, True):
            cases.append({"pre_tokenizer": {"type": "Split", "pattern": pattern, "behavior": behavior,
                                            "invert": invert}, "texts": TEXTS})
            step = value_of(lambda: pre_tokenizers.Split(Regex(expression), NAMES[behavior], invert))
            expected.append(step if isinstance(step, dict) else [
                value_of(lambda: [word for word, _ in step.pre_tokenize_str(text)]) for text in TEXTS])
    cases.append({"normalizer": {"type": "Replace", "pattern": pattern, "content": "<>"},
                  "texts": TEXTS})
    step = value_of(lambda: normalizers.Replace(Regex(expression), "<>"))
    expected.append(step if isinstance(step, dict) else [
        value_of(lambda: step.normalize_str(text)) for text in TEXTS])

for expression in UNCERTAIN:
    cases.append({"normalizer": {"type": "Replace", "pattern": {"Regex": expression}, "content": ""},
                  "texts": TEXTS})
    expected.append({"error": "not to be matched"})

(work / "patterns.json").write_text(json.dumps(cases))
subprocess.run([program, work / "patterns.json", work / "results.json"], check=True)
results = json.loads((work / "results.json").read_text())


def failed(value):
    return isinstance(value, dict)


different, refused = {}, set()
for case, right, got in zip(cases, expected, results, strict=True):
    step = case.get("pre_tokenizer") or case["normalizer"]
    expression = step["pattern"]["Regex"]
    if failed(right):
        refused.add(expression)
        pairs = [("", right, got if failed(got) else "accepted")]
    else:
        pairs = zip(TEXTS, right, got if not failed(got) else [got] * len(TEXTS), strict=True)
    for text, one, other in pairs:
        if not (failed(one) and failed(other)) and one != other:
            different.setdefault(expression, []).append((step, text, one, other))
for expression, found in different.items():
    print(f"{expression}: {len(found)} different")
    for one in found[:3]:
        print("   ", ascii(one)[:600])
print(f"{len(EXPRESSIONS) + len(UNCERTAIN)} expressions, {len(refused)} of them refused; {len(cases)} steps on"
      f" {len(TEXTS)} texts; {len(different)} expressions differ")
sys.exit("weft differs from tokenizers (see above)" if different else 0)
