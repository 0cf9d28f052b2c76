"""Prints 1000 lines of varied texts, one a line, as UTF-8.

They are made of the words of the files given as arguments, and of characters of all scripts.
"""

import pathlib
import random
import sys
import unicodedata

EXTRA = [
    "", " ", "e\u0301 \u1e9b\u0323", "İstanbul", "ΤΈΛΟΣ ΣΑΣ", "한글 각 ㄱ", "ﬁ ½ ™ Å", "𝐀𝑏𝔠 𝟘",
    "👩\u200d🚀 ❤\ufe0f 👍🏽 🇩🇪 1\ufe0f\u20e3", "中文字体ab中c 㐀𠀀", "a" * 100, "a" * 101, "é" * 101,
    "[CLS] [SEP] [MASK] a[MASK]b", "[mask] ##s #", "don't it's $5.00 50% a_b (c)",
    "zero\u200bwidth\u200djoiner\ufeff\u00ad\u2060", "שָׁלוֹם", "السَّلَامُ عَلَيْكُمْ", "हिन्दी में",
    "ภาษาไทยน้ำ", "日本語のテキスト", "\u202eright\u202c \u200fleft", "Straße ẞ", "ctrl\x01\x7f\x9f",
    "word " * 400, "no\u00a0break\u2003em\u3000wide", "tab\tbed", "\ufffd\ue000",
]


def assigned_characters():
    # Characters whose category is the same in every version of Unicode.
    old = unicodedata.ucd_3_2_0
    return [c for c in map(chr, range(0x21, 0x30000))
            if old.category(c) not in ("Cn", "Cs") and old.category(c) == unicodedata.category(c)
            and c not in "\x85\u2028\u2029"]


def line(words, characters):
    parts = []
    for _ in range(random.randint(1, 40)):
        kind = random.random()
        if kind < 0.85:
            word = random.choice(words)
            parts.append(random.choice([word, word, word.upper(), word.title()]))
        else:
            start = random.randrange(len(characters) - 40)
            parts.append("".join(random.choices(characters[start:start + 40],
                                                k=random.randint(1, 8))))
    return random.choice([" ", " ", " ", ", ", "  ", "-"]).join(parts)


if __name__ == "__main__":
    random.seed(1)
    words = [w for path in sys.argv[1:] for w in pathlib.Path(path).read_text("utf-8").split()]
    characters = assigned_characters()
    lines = EXTRA + [line(words, characters) for _ in range(1000 - len(EXTRA))]
    sys.stdout.buffer.write("".join(text + "\n" for text in lines).encode())
