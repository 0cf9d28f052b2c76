"""compare.py RENDER [COUNT] [SEED]: compares RENDER (render.cpp) with transformers and jinja2 on
generated templates, on those of models' forms (forms.py) and on what is not supported. A template that
renders otherwise, or that jinja2 refuses and RENDER does not, is a failure; so is less than 95 % of equal
renderings of the forms, and one of what is not supported."""

import json
import subprocess
import sys
import time

from transformers.utils.chat_template_utils import _compile_jinja_template as compile_template

from forms import FORMS, conversations
from generate import REFUSED, Generator


def expected(case):
    try:
        return compile_template(case["template"]).render(**case["variables"])
    except Exception as error:  # of any type: what jinja2 refuses
        return error


def compare(render, cases, shown):
    lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
    begin = time.monotonic()
    result = subprocess.run([render], input=lines.encode(), capture_output=True, check=True)
    seconds = time.monotonic() - begin
    counts = {"equal": 0, "both refuse": 0, "refused": 0, "different": 0, "accepted": 0}
    outputs = result.stdout.decode().splitlines()
    assert len(outputs) == len(cases), (len(outputs), len(cases))
    for case, line in zip(cases, outputs):
        own, right = json.loads(line), expected(case)
        is_refused = isinstance(right, Exception)
        kind = ("both refuse" if is_refused else "refused") if "error" in own else \
            "accepted" if is_refused else "equal" if own["text"] == right else "different"
        counts[kind] += 1
        if kind in shown:
            print(f"{kind}: {case['template']!r}\n  jinja2 {right!r}\n  weft   {own.get('text', own.get('error'))!r}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()), f"in {seconds:.1f} s")
    return counts


def main():
    render, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    shown = ("different", "accepted") + (("refused",) if len(sys.argv) > 4 else ())
    generated = []
    for i in range(count):
        generator = Generator(seed * 1_000_003 + i)
        generated.append({"template": generator.template(), "variables": generator.variables()})
    print("generated templates:")
    first = compare(render, generated, shown)
    print("templates of models' forms:")
    second = compare(render, [{"template": template, "variables": variables}
                              for template in FORMS.values() for variables in conversations()], shown + ("refused",))
    print("templates of what is not supported:")
    third = compare(render, [{"template": template, "variables": {}} for template in REFUSED],
                    ("equal", "both refuse", "different"))
    is_wrong = third["refused"] != len(REFUSED) or any(counts[kind] for counts in (first, second) for kind in ("different", "accepted"))
    rendered = second["equal"] + second["refused"]
    return 1 if is_wrong or second["equal"] < 0.95 * rendered else 0


sys.exit(main())
