"""Writes byte_pair_encoding/: a small vocabulary in GPT-2's format, learned by Hugging Face's
tokenizers from a made-up text, the ids that transformers' GPT2TokenizerFast gives to 1000 lines,
and the text that they decode to."""

import random
from pathlib import Path

import h5py
import numpy as np
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2TokenizerFast

folder = Path(__file__).with_name("byte_pair_encoding")
folder.mkdir(exist_ok=True)
end = "<|endoftext|>"
random.seed(5)

# Made-up words of a few alphabets.
latin = ["ba", "do", "ki", "lu", "ne", "ti", "sha", "or", "en", "wea", "ver", "thre", "é", "ü", "ß"]
greek = ["λα", "με", "νο", "σί", "θρ"]
cyrillic = ["во", "ка", "ти", "жё", "ль"]
other = ["織", "糸", "機", "ひも", "ノード", "한올", "خيط", "נול", "सूत", "ผ้า"]
shorts = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'x", "’s"]
spaces = [" ", "  ", "   ", "\t", "\n", "\n\n", " \n ", "\r\n", "\u00a0", "\u3000", "\u0085",
          "\u2028", "\u2003", "\u200b", "\x0b", "\x1c", "\u180e", "\u1680"]
marks = [".", ",", "!", "?", "...", "--", "—", "(", ")", "[]", "{}", "==", "#", "# #", "$", "€",
         "_", "'", "''", '"', "\\", "\x00", "\x1b", "\x7f", "\ufffd", "\ue000", "^", "~", "`"]
symbols = ["🧵", "👩‍🦱", "🇪🇺", "e\u0301", "n\u0303", "ﬁ", "½", "²", "Ⅷ", "٣", "५", "①", "ª", "ǅ",
           "\u0345", "\u20e3", "𝔴", "𐍈", "〇", "々", "〆", "ー", "ʰ"]


def word(parts=None):
    parts = parts or random.choice([latin] * 8 + [greek, cyrillic])
    made = "".join(random.choice(parts) for _ in range(random.randint(1, 4)))
    return random.choice([made] * 4 + [made.capitalize(), made.upper()])


def plain():
    """A sentence."""
    words = [word() for _ in range(random.randint(3, 12))]
    if random.random() < 0.3:
        words[0] += random.choice(shorts[:7])
    if random.random() < 0.3:
        words.append(str(random.randint(0, 2100)))
    return " ".join(words) + random.choice([".", ".", "?", "!", ",", "\n"])


def varied():
    """Anything after anything."""
    pieces = [word, lambda: random.choice(shorts), lambda: random.choice(spaces),
              lambda: random.choice(marks), lambda: random.choice(symbols),
              lambda: random.choice(other), lambda: str(random.randint(0, 10**6)),
              lambda: " " + word(), lambda: random.choice(" \n") * random.randint(1, 9)]
    if random.random() < 0.1:
        pieces.append(lambda: random.choice([end, end[:-1], "<|", "|>"]))
    return "".join(random.choice(pieces)() for _ in range(random.randint(1, 14)))


def any_characters():
    """Characters of every part of Unicode."""
    codes = (random.randrange(random.choice([0x80, 0x250, 0x3000, 0x10000, 0x1ffff]))
             for _ in range(random.randint(1, 12)))
    return "".join(chr(code) for code in codes if not 0xd800 <= code < 0xe000 and code != 0x1e)


vocabulary = [word() for _ in range(150)]
text = "".join(" ".join(random.choice(vocabulary) for _ in range(8)) + " " + plain() + " "
               for _ in range(60))
trained = ByteLevelBPETokenizer()
trained.train_from_iterator([text], vocab_size=640, min_frequency=2, special_tokens=[end],
                            show_progress=False)
trained.save_model(str(folder))

long_word = "".join(random.choice(latin) for _ in range(600))
lines = ["", " ", "\n", end, end + end, "a" * 500, " " * 300, long_word, "'" * 7 + "s"]
lines += [plain() for _ in range(200)]
lines += [any_characters() for _ in range(200)]
lines += [varied() for _ in range(1000 - len(lines))]
tokenizer = GPT2TokenizerFast.from_pretrained(str(folder))
ids = [tokenizer.encode(line) for line in lines]
for line, row in zip(lines, ids):
    assert tokenizer.decode(row, clean_up_tokenization_spaces=False) == line


def compressed(file, name, data, kind):
    file.create_dataset(name, data=np.array(data, dtype=kind), compression="gzip", shuffle=True)


# Sequences of ids that are no text: what the decoder makes of them, with U+FFFD for invalid bytes.
broken = [[random.randrange(1, 257) for _ in range(random.randint(1, 12))] for _ in range(200)]
repaired = [tokenizer.decode(row, clean_up_tokenization_spaces=False) for row in broken]

with h5py.File(folder / "ids.h5", "w") as file:
    compressed(file, "text", list(text.encode()), np.uint8)
    for name, texts, rows in (("lines", lines, ids), ("broken", repaired, broken)):
        encoded = [line.encode() for line in texts]
        compressed(file, f"{name}/bytes", list(b"".join(encoded)), np.uint8)
        compressed(file, f"{name}/byte_counts", [len(line) for line in encoded], np.uint16)
        compressed(file, f"{name}/ids", [id for row in rows for id in row], np.uint16)
        compressed(file, f"{name}/id_counts", [len(row) for row in rows], np.uint16)
