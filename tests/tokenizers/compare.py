"""compare.py PROGRAM WORK ROUNDS: learns a small tokenizer of every kind with Hugging Face's
tokenizers, from texts in many scripts, and compares the ids and the decoded texts of PROGRAM
(tokenize.cpp) with theirs: of 1,200 lines, and of 6 MB in texts of about 2 kB. Then both encode
these in turn, on one thread, whose processor time counts."""

import json
import os
import random
import statistics
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)

program, work, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
repository = Path(__file__).parents[2]
random.seed(11)

# Blocks of Unicode: Latin, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai, Hangul, kana, Chinese,
# and what is between words or changed by normal forms.
SCRIPTS = [(0x61, 0x7a), (0x61, 0x7a), (0xe0, 0x17f), (0x3b1, 0x3c9), (0x410, 0x44f),
           (0x5d0, 0x5ea), (0x627, 0x64a), (0x905, 0x939), (0xe01, 0xe30), (0xac00, 0xad00),
           (0x3042, 0x3093), (0x4e00, 0x5200)]
OTHERS = [(0x20, 0x7e), (0xa0, 0x24f), (0x300, 0x36f), (0x900, 0x97f), (0x1100, 0x11ff),
          (0x1e00, 0x1fff), (0x2000, 0x206f), (0x20a0, 0x214f), (0x2460, 0x24ff), (0x3000, 0x30ff),
          (0xf900, 0xfaff), (0xfb00, 0xfb4f), (0xfe00, 0xfeff), (0xff00, 0xffef),
          (0x1d400, 0x1d7ff), (0x1f300, 0x1f6ff), (0x0, 0x1f), (0x7f, 0x9f)]
CHOSEN = ["", "  ", " a", "a ", "  a  b   ", "Hello, world!  It's 2026-11-23, I'LL go.", "don’t",
          "a\u0301e\u0301", "ﬁ ½ Å", "日本語テキスト", "İstanbul ſ 'ſ", "1234567890 ٣٤٥",
          "\u200d\u200b", "👩‍👩‍👧‍👦 🇩🇪", "\t\t x\n\n y\r\n", "[CLS] [MASK] a[SEP]b", "<s>a</s> <|end|>",
          "    if x:\n        return\n", "##ing # ##", "x" * 101, "한글 각 ㄱ"]


def character(low, high):
    while True:
        one = chr(random.randint(low, high))
        if unicodedata.category(one) not in ("Cs", "Cn"):
            return one


def word(blocks, longest):
    low, high = random.choice(blocks)
    return "".join(character(low, high) for _ in range(random.randint(1, longest)))


between = [" "] * 6 + ["  ", "", "\t", "'s ", "'LL ", " 12345 ", " \u3000", "\u00a0", "...", ". ",
                       ", ", "<|end|>", "   ", "\u180e", "<s>", "</s>", "\n", "[SEP]"]
lines = CHOSEN + ["".join(word(OTHERS + SCRIPTS, 8) + random.choice(between)
                          for _ in range(random.randint(1, 20))) for _ in range(1200)]
# Words as frequent as in a language, by Zipf's law.
words = [word(SCRIPTS, 9) for _ in range(20000)]
frequencies = [1 / (rank + 10) for rank in range(len(words))]
written = "".join(path.read_text() for path in sorted(repository.rglob("*"))
                  if path.suffix in (".cpp", ".hpp", ".py", ".md") and "build" not in path.parts)
half = 3_000_000
written = (written * (half // len(written) + 1))[:half]
made = []
while sum(map(len, made)) < half // 2:
    made.append(" ".join(random.choices(words, frequencies, k=20)) + random.choice([". ", ".\n"]))
mixed = [written[at:at + 2000] for at in range(0, half, 2000)]
mixed += ["".join(made[at:at + 12]) for at in range(0, len(made), 12)]
mixed += lines
megabytes = sum(len(text.encode()) for text in mixed) / 1e6
learned_from = random.sample(mixed, 500) + lines

special = ["<unk>", "<s>", "</s>", "<|end|>"]
byte_level = pre_tokenizers.ByteLevel


def pairs(pre_tokenizer, normalizer=None, decoder=None, **options):
    fallback = options.get("byte_fallback", False)
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder or decoders.ByteLevel()
    names = [f"<0x{byte:02X}>" for byte in range(256)] if fallback else []
    tokenizer.train_from_iterator(learned_from, trainers.BpeTrainer(
        vocab_size=8000, special_tokens=special + names, limit_alphabet=500, show_progress=False,
        max_token_length=16, initial_alphabet=[] if fallback else byte_level.alphabet()))
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = [t for t in content["added_tokens"] if t["content"] in special]
    return Tokenizer.from_str(json.dumps(content))


def split(expression):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"),
                                    byte_level(add_prefix_space=False, use_regex=False)])


def letters(digits):
    return (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits
            + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def of_spaces():
    return decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                              decoders.Strip(" ", 1, 0)])


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(learned_from, trainers.UnigramTrainer(
        vocab_size=8000, special_tokens=special, unk_token="<unk>", show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 2)])
    return tokenizer


def word_piece(lowercase):
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(learned_from, trainers.WordPieceTrainer(
        vocab_size=8000, special_tokens=names, limit_alphabet=800, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.add_special_tokens([AddedToken("<|end|>", lstrip=True, rstrip=True)])
    return tokenizer


def punctuation():
    return pre_tokenizers.Sequence([pre_tokenizers.Punctuation(), byte_level(False)])


kinds = {
    "GPT-2": lambda: pairs(byte_level(add_prefix_space=False)),
    "Llama 3": lambda: pairs(split(letters(r"\p{N}{1,3}")), ignore_merges=True),
    "Qwen": lambda: pairs(split(letters(r"\p{N}")), normalizer=normalizers.NFC()),
    "SmolLM": lambda: pairs(pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), byte_level(add_prefix_space=False)])),
    "Falcon": lambda: pairs(punctuation()),
    "Llama 2": lambda: pairs(
        None, decoder=of_spaces(), byte_fallback=True, unk_token="<unk>", fuse_unk=True,
        normalizer=normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])),
    "Mistral": lambda: pairs(
        pre_tokenizers.Metaspace(prepend_scheme="first", split=False), decoder=of_spaces(),
        byte_fallback=True, unk_token="<unk>", fuse_unk=True),
    "Unigram": unigram,
    "BERT": lambda: word_piece(True),
    "BERT cased": lambda: word_piece(False),
}
if folder := os.environ.get("MODEL"):
    kinds[Path(folder).name] = lambda: Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


def differences(texts, results, tokenizer):
    encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    with_ends = tokenizer.encode_batch_fast(texts[:len(lines)])
    for i, (text, got) in enumerate(zip(texts, results, strict=True)):
        expected = {"ids": encoded[i].ids,
                    "text": tokenizer.decode(encoded[i].ids, skip_special_tokens=False)}
        if i < len(lines):
            expected["ends"] = with_ends[i].ids
        if any(got[name] != expected[name] for name in expected):
            yield {name: (text, expected[name], got[name]) for name in expected
                   if got[name] != expected[name]}


(work / "lines.json").write_text(json.dumps(lines))
(work / "mixed.json").write_text(json.dumps(mixed))
print(f"{len(lines)} lines, and {megabytes:.1f} MB in {len(mixed)} texts; MB per second of one"
      f" thread's processor time, the best of {rounds} rounds in turn")
print(f"{'':12} {'lines':>6} {'texts':>6} {'weft':>7} {'theirs':>7} {'ratio':>6}")
failed = False
for name, make in kinds.items():
    path, result = work / f"{name}.json", work / "result.json"
    tokenizer = make()
    tokenizer.no_padding()
    tokenizer.no_truncation()
    path.write_text(tokenizer.to_str())
    counts = []
    for texts, file in ((lines, "lines.json"), (mixed, "mixed.json")):
        run(path, work / file, result)
        different = list(differences(texts, json.loads(result.read_text()), tokenizer))
        counts.append(len(different))
        for one in different[:2]:
            print(f"{name}: {ascii(one)[:1500]}")
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(megabytes / float(run(path, work / "mixed.json")))
        fresh = Tokenizer.from_file(str(path))
        begin = time.process_time()
        fresh.encode_batch_fast(mixed, add_special_tokens=False)
        theirs.append(megabytes / (time.process_time() - begin))
    print(f"{name:12} {counts[0]:6} {counts[1]:6} {max(ours):7.2f} {max(theirs):7.2f}"
          f" {max(ours) / max(theirs):6.2f}", flush=True)
    failed = failed or any(counts)
sys.exit("weft differs from tokenizers (see above)" if failed else 0)
