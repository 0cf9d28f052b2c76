"""Writes word_piece_vocab.txt, a made-up vocabulary, and word_piece.h5: texts of many scripts, and
the ids that tokenizers' BertWordPieceTokenizer gives them.

    texts, text_sizes                     the texts' bytes, one text after the other, and how many
    <case>/ids, <case>/sizes              ids of every text, and how many
    pairs/ids, pairs/segments, pairs/sizes    of each text and the next one, in at most 16 ids
    decoded, decoded_sizes                the bytes of each text decoded from the ids of `lower`

Texts have characters whose category has been the same since Unicode 3.2, and some emoji.

Needs tokenizers, numpy and h5py. The files in the repository were written with tokenizers 0.23.
"""

import pathlib
import random
import unicodedata

import h5py
import numpy as np
from tokenizers import BertWordPieceTokenizer

FOLDER = pathlib.Path(__file__).parent
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SYLLABLES = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "wi", "zo"]
ENDINGS = ["s", "ing", "ed", "er", "ly", "tion"]
WORDS = ["the", "weft", "loom", "thread", "woven", "Weft", "LOOM", "straße", "été", "naïve", "don",
         "τέλος", "τελος", "ткань", "нить", "שלום", "نسيج", "हिन्दी", "ไทย", "xx", "12", "2019"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
OTHERS = ("ABCÉéñüßøþıłσςωΩжйЖאבגابتحकखाทย้한한中文字体㐀𠀀豈日本語あいアガ゛０１ⅫⅫ½²ﬁ"
          "𝐀𝑏𝔠😀👩🚀❤☺🏽♀🇩🇪$€+<=>^`|~.,;:!?'\"()[]{}@#%&*-_/\\«»„“”‘’—…。、！？־׃،؟।๏§¶·")
# Texts whose every detail matters: what is removed, what separates, what is decomposed, and when.
CHOSEN = [
    "", " ", "\t\n\r\v\f\x85\u00a0\u2003\u2028\u2029\u3000", "a\x00b\x07c\x7fd\x9fe\ufffdf\ue000g",
    "zero\u200bwidth\u200djoiner\ufeffmark\u00adsoft\u2060", "İstanbul İ ı I i", "ΤΈΛΟΣ ΣΑΣ Σ",
    "e\u0301 e\u0301\u0323 \u0301a \u0301", "\u1e9b\u0323 \u0344 \u0f73", "한글 각 ㄱ 한 한",
    "ﬁ ﬀ ½ ² ™ Å Ω", "𝐀𝑏𝔠 𝟘𝟙", "👩\u200d🚀 ❤\ufe0f 👍🏽 🇩🇪 1\ufe0f\u20e3", "中文字体ab中c 㐀𠀀 豈",
    "ｆｕｌｌ　ｗｉｄｔｈ！", "a" * 100, "a" * 101, "é" * 100, "é" * 101, "ab" * 60, "가" * 33,
    "가" * 34, "x" * 99 + "中" + "y" * 101, "[CLS] [SEP] [MASK] [PAD] [UNK]", "a[MASK]b[MASK][MASK].",
    "[mask] [ MASK ] [MASK [[MASK]] ##s # ## ###", "don't can't it's $5.00 50% a_b a-b (c)",
    "http://weft.example/a?b=c&d=#e", "name@example.org", "...!?,,", "'a' \"b\" `c` ^d~ |e|",
    "שָׁלוֹם עֲלֵיכֶם", "السَّلَامُ عَلَيْكُمْ", "हिन्दी में", "ภาษาไทยน้ำ", "日本語のテキストガカ゛",
    "\u202eright\u202c to \u200fleft", "Straße STRASSE ẞ", "ǅ ǆ Ǆ", "ΐ ΰ ᾳ ᾼ", "Ǻ ǻ Ṩ ṩ", "a\u0903b कि",
]


def vocabulary():
    tokens = SPECIAL + ["[unused0]"] + WORDS + SYLLABLES + ["##" + s for s in SYLLABLES + ENDINGS]
    for letter in LETTERS + OTHERS:
        tokens += [letter, "##" + letter]
    return list(dict.fromkeys(tokens))


def assigned_characters():
    old = unicodedata.ucd_3_2_0
    return [c for c in map(chr, range(0x20, 0x30000))
            if old.category(c) not in ("Cn", "Cs")
            and old.category(c) == unicodedata.category(c)]


def random_word(characters):
    kind = random.random()
    if kind < 0.3:
        return random.choice(WORDS)
    if kind < 0.6:
        word = "".join(random.choices(SYLLABLES, k=random.randint(1, 4)))
        return random.choice([word, word.upper(), word.title()]) + random.choice(ENDINGS + [""])
    if kind < 0.8:
        return "".join(random.choices(OTHERS, k=random.randint(1, 5)))
    if kind < 0.97:
        # Neighbours in Unicode are mostly of one script.
        start = random.randrange(len(characters) - 40)
        return "".join(random.choices(characters[start:start + 40], k=random.randint(1, 6)))
    return random.choice(SPECIAL)


def texts():
    characters = assigned_characters()
    lines = list(CHOSEN)
    while len(lines) < 1000:
        words = [random_word(characters) for _ in range(random.randint(1, 8))]
        lines.append("".join(w + random.choice([" ", " ", " ", "", "\t", "  ", ", "])
                             for w in words))
    return lines


def write_integers(group, name, values):
    group.create_dataset(name, data=np.asarray(values, np.int32), shuffle=True, compression="gzip",
                         compression_opts=9)


def write_lists(group, name, lists):
    write_integers(group, name, [value for one in lists for value in one])


def write_sizes(group, name, lists):
    write_integers(group, name, [len(one) for one in lists])


def write(file, path):
    lines = texts()
    encoded = [list(line.encode()) for line in lines]
    write_lists(file, "texts", encoded)
    write_sizes(file, "text_sizes", encoded)
    cases = {"lower": {"lowercase": True}, "cased": {"lowercase": False},
             "lower_with_accents": {"lowercase": True, "strip_accents": False},
             "cased_without_accents": {"lowercase": False, "strip_accents": True}}
    for name, options in cases.items():
        tokenizer = BertWordPieceTokenizer(str(path), **options)
        ids = [tokenizer.encode(line).ids for line in lines]
        group = file.create_group(name)
        write_lists(group, "ids", ids)
        write_sizes(group, "sizes", ids)
    tokenizer = BertWordPieceTokenizer(str(path))
    decoded = [list(tokenizer.decode(tokenizer.encode(line).ids).encode()) for line in lines]
    write_lists(file, "decoded", decoded)
    write_sizes(file, "decoded_sizes", decoded)
    tokenizer.enable_truncation(16)
    pairs = [tokenizer.encode(a, b) for a, b in zip(lines, lines[1:])]
    group = file.create_group("pairs")
    write_lists(group, "ids", [pair.ids for pair in pairs])
    write_lists(group, "segments", [pair.type_ids for pair in pairs])
    write_sizes(group, "sizes", [pair.ids for pair in pairs])


if __name__ == "__main__":
    random.seed(1)
    vocabulary_path = FOLDER / "word_piece_vocab.txt"
    vocabulary_path.write_text("\n".join(vocabulary()) + "\n", encoding="utf-8")
    with h5py.File(FOLDER / "word_piece.h5", "w", libver="v108") as output_file:
        write(output_file, vocabulary_path)
