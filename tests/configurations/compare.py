"""compare.py PROGRAM WORK: varies the configurations of small random models, one entry at a time and
in pairs that interact, and compares the results of PROGRAM (results.cpp) with those of transformers,
PEFT and sentence-transformers, in double precision.

Each variant must give the reference's result, or be refused with a message that names an entry. Ends
with 1 for a different result, for a message without a name, and for a refusal of an entry that
variants.py lists as harmless. Prints what was refused although the reference accepts it."""

import collections
import json
import subprocess
import sys
from pathlib import Path

import models
import adapters
import sentences

program, work = sys.argv[1], Path(sys.argv[2])
jobs = []  # (folder, description, reference or None, whether it must be accepted)
for module in (models, adapters, sentences):
    for number, job in enumerate(module.jobs(work / module.__name__)):
        jobs.append(job)
for folder in sorted({folder.parent for folder, *_ in jobs}):
    subprocess.run([program, folder], check=True)

counts, failures, refused = collections.Counter(), [], []
for folder, description, reference, harmless in jobs:
    result = json.loads((folder / "result.json").read_text())
    kind = description.split(":")[0]
    counts[kind, "all"] += 1
    if "error" in result:
        counts[kind, "refused"] += 1
        if " expected " not in " " + result["error"] or ", got " not in result["error"]:
            failures.append(f"{description}: no clear message: {result['error']}")
        if reference is not None:
            refused.append(f"{description}: {result['error'].split('json')[-1][:150]}")
            counts[kind, "refused, though the reference runs"] += 1
            if harmless:
                failures.append(f"{description}: refused, but harmless: {result['error']}")
        continue
    if reference is None:
        counts[kind, "runs, though the reference fails"] += 1
        continue
    for name, expected in reference.items():
        values = result[name]
        if name != "values":
            if values != expected:
                failures.append(f"{description}: {name} {values}, right is {expected}")
            continue
        scale = max(map(abs, expected))
        difference = (max(abs(a - b) for a, b in zip(values, expected))
                      if len(values) == len(expected) else float("inf"))
        if not difference <= (1e-5 if kind == "sentences" else 1e-9) * scale:
            failures.append(f"{description}: DIFFERENT by {difference:.3g} of {scale:.3g}")
    counts[kind, "equal"] += 1

print("Refused, though the reference runs:", *refused, sep="\n  ")
kinds = list(dict.fromkeys(kind for kind, _ in counts))
columns = ["all", "equal", "refused", "refused, though the reference runs",
           "runs, though the reference fails"]
print("\n" + " | ".join(["model", *columns]))
for kind in kinds:
    print(" | ".join([kind, *(str(counts[kind, column]) for column in columns)]))
print(" | ".join(["all", *(str(sum(counts[kind, column] for kind in kinds)) for column in columns)]))
print(f"{len(failures)} failures", *failures, sep="\n  ")
sys.exit(bool(failures))
