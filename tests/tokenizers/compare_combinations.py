"""compare_combinations.py PROGRAM WORK COUNT SEED: draws tokenizer.json files at random
(combinations.py), and compares the ids, the tokens of whole texts and the decoded texts of PROGRAM
(run_cases.cpp) with those of Hugging Face's tokenizers. What the library refuses has to be refused;
what weft refuses is counted by its message."""

import collections
import json
import re
import subprocess
import sys
from pathlib import Path

import combinations

program, work, count, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
cases, expected = [], []
combinations.chance.seed(seed)
for _ in range(count):
    case, right = combinations.draw()
    cases.append(case)
    expected.append(right)

(work / "combinations.json").write_text(json.dumps(cases))
subprocess.run([program, work / "combinations.json", work / "results.json"], check=True)
results = json.loads((work / "results.json").read_text())
different, refused, refused_by_both, lines, panics, shown = 0, collections.Counter(), 0, 0, 0, 0
for case, right, got in zip(cases, expected, results, strict=True):
    if "error" in got:
        if "error" in right:
            refused_by_both += 1
        else:
            refused[re.sub(r"'.*|, got .*", "", got["error"])] += 1
        continue
    if "error" in right and " index " in right["error"] or "out of bounds" in right.get("error", ""):
        panics += 1
        found = []
    elif "error" in right:
        found = [("file", right, "accepted")]
    else:
        found = []
        for kind, inputs in (("encoded", case["texts"]), ("decoded", case["ids"])):
            for line, one, other in zip(inputs, right[kind], got[kind], strict=True):
                lines += 1
                if "error" in one:  # it panics, for texts that a decoder strips of more than they have
                    panics += 1
                    continue
                if "error" in other:
                    refused[re.sub(r"'.*|, got .*", "", other["error"])] += 1
                elif one != other:
                    found.append((kind, line, one, other))
    if found:
        different += 1
        if shown < 6:
            shown += 1
            brief = json.loads(json.dumps(case["tokenizer"]))
            brief["model"].pop("vocab", None)
            print(json.dumps(brief, ensure_ascii=False)[:1500])
            for one in found[:3]:
                print("   ", ascii(one)[:500])
print(f"{count} combinations, {lines} texts encoded or decoded, the library panics for {panics} of them;"
      f" {different} combinations differ;"
      f" {refused_by_both} refused by both, {sum(refused.values())} times by weft only")
for message, times in refused.most_common():
    print(f"    {times}: {message}")
sys.exit("weft differs from tokenizers (see above)" if different else 0)
