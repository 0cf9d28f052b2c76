"""Writes patterns.json: a text, and for regular expressions what Replace of Hugging Face's tokenizers
makes of it, with "<>" in the place of matches; null for expressions that they refuse, and for those
which depend on the version of Oniguruma."""

import json
import sys
from pathlib import Path

from tokenizers import Regex, normalizers

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenizers"))
from patterns import EXPRESSIONS, UNCERTAIN  # noqa: E402

TEXT = ("aab aBc a{2} e\u0301te ﬁ ß Straße K ſ σς\nsnake_case ⅳ‿Ⓐ 12 ٣½²  \n\n(a)(b) [x]+*?-$ '’S'LL\r\n日本語カナー、한글 क्षि สวัสดี\t"
        "x\u00a0y\u180ez\u200b\u3000\u2028w\u0085\x00\x1b\x7f👩‍👧 🇩🇪😀\ue000\u0378\u0301 aaaab  ")


def replaced(expression):
    try:
        return normalizers.Replace(Regex(expression), "<>").normalize_str(TEXT)
    except BaseException:  # the library panics
        return None


content = {"text": TEXT, "replaced": {one: replaced(one) for one in EXPRESSIONS}
           | dict.fromkeys(UNCERTAIN)}
Path(__file__).with_name("patterns.json").write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n")
