"""Draws tokenizer.json files at random: normalizers, pre-tokenizers, models, post-processors, decoders
and flags of added tokens, and texts; for compare_combinations.py and
tests/golden/write_combinations.py."""

import json
import multiprocessing
import random
import resource

from tokenizers import Tokenizer

chance = random.Random()

TEXTS = ["", " ", "a", "  ab", "ab ", "abab ba  c", "Ab. Ba! a?", "a\nb\tc \n", "▁a ▁▁b", "a<x>b <x> ab<y>", "<x><y>  <z> a",
         "é e\u0301 Ü", "12 a345b", "日本 a中b", "don't 'm do not a , b .", "a-b_c|d|", "##b [a]", "<0x41> <0x0A>", "aaaaab", "Ġa Ċb",
         "c <Z>a", "ab<z>ab", "x\u00a0y\u3000", "ﬁ Å \u200b", "abc cba bca", "a\u0301<y>\u0301b", "_<z>_ <z> z<z>", "</w>a b</w>", "</s> a <unk>"]
LETTERS = ["a", "b", "c", "ab", "ba", "abc", "c"]


def byte_letters():
    printable = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) for byte in printable] + [chr(0x100 + i) for i in range(len(others))]


def maybe(probability):
    return chance.random() < probability


def either(*values):
    return chance.choice(values)


def pattern():
    return either({"String": " "}, {"String": "a"}, {"String": "▁"}, {"String": "ab"}, {"String": ""}, {"Regex": r"\s+"},
                  {"Regex": r"\w+|[^\w\s]+"}, {"Regex": "[aeiou]"}, {"Regex": r"(?=b)"}, {"Regex": r"^\s*"}, {"Regex": r"\s+$"},
                  {"Regex": " {2,}"}, {"Regex": r"\d"}, {"Regex": "b*"}, {"Regex": r"\b"}, {"Regex": "(?<=a)"})


def normalizer(depth=0):
    kind = either("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", "Nmt", "Prepend", "Replace", "ByteLevel",
                  "BertNormalizer", "Replace", "Sequence")
    made = {"type": kind}
    if kind == "Sequence":
        made["normalizers"] = [normalizer(depth + 1) for _ in range(chance.randint(0, 3))] if depth < 2 else []
    elif kind == "Strip":
        made |= {"strip_left": maybe(.5), "strip_right": maybe(.5)}
    elif kind == "Prepend":
        made["prepend"] = either("▁", " ", "x", "")
    elif kind == "Replace":
        made |= {"pattern": pattern(), "content": either(" ", "▁", "", "ab", "b")}
    elif kind == "BertNormalizer":
        made |= {"clean_text": maybe(.5), "handle_chinese_chars": maybe(.5), "strip_accents": either(None, True, False),
                 "lowercase": maybe(.5)}
    return made


def byte_level():
    return {"type": "ByteLevel", "add_prefix_space": maybe(.5), "trim_offsets": maybe(.5), "use_regex": maybe(.5)}


def metaspace():
    made = {"type": "Metaspace", "replacement": either("▁", "_"), "prepend_scheme": either("always", "first", "never"),
            "split": maybe(.5)}
    if maybe(.3):
        del made["split"]
    if maybe(.3):
        del made["prepend_scheme"]
    return made


def pre_tokenizer(depth=0):
    kind = either("ByteLevel", "ByteLevel", "Metaspace", "Metaspace", "Split", "Split", "Digits", "Punctuation", "Whitespace",
                  "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit", "FixedLength", "Sequence", "Sequence")
    made = {"type": kind}
    if kind == "Sequence":
        made["pretokenizers"] = [pre_tokenizer(depth + 1) for _ in range(chance.randint(0, 3))] if depth < 2 else []
    elif kind == "ByteLevel":
        made = byte_level()
    elif kind == "Metaspace":
        made = metaspace()
    elif kind == "Split":
        made |= {"pattern": pattern(), "behavior": either("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"),
                 "invert": maybe(.3)}
    elif kind == "Digits":
        made["individual_digits"] = maybe(.5)
    elif kind == "Punctuation" and maybe(.7):
        made["behavior"] = either("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
    elif kind == "CharDelimiterSplit":
        made["delimiter"] = either(" ", "a", "|")
    elif kind == "FixedLength" and maybe(.8):
        made["length"] = chance.randint(1, 4)
    return made


def alphabet(model):
    letters = list(" abcdefgxyz_▁|.,!?'-0123456789é\u0301日中ĠĊ")
    if maybe(.5):
        letters = chance.sample(letters, len(letters) * 2 // 3)
    if maybe(.4):
        letters += byte_letters()
    if maybe(.3):
        letters += [f"<0x{byte:02X}>" for byte in range(256) if maybe(.999)]
    return letters


def merges_and_words(letters, prefix, suffix):
    first = [letter for letter in letters if len(letter) == 1]
    tokens = dict.fromkeys(letters)
    if prefix:
        tokens |= dict.fromkeys(prefix + letter for letter in first)
    if suffix:
        tokens |= dict.fromkeys(letter + suffix for letter in list(tokens) if len(letter) <= 2)
    merges = []
    for _ in range(chance.randint(0, 25)):
        left, right = chance.choice(list(tokens)), chance.choice(list(tokens))
        if right.startswith(prefix) and len(left) + len(right) < 9 and not left.startswith("<0x"):
            merged = left + right[len(prefix):]
            if maybe(.3):
                left, right = either(("a", prefix + "b"), ("b", prefix + "a"), ("▁", prefix + "a"), (" ", prefix + "a"))
                merged = left + right[len(prefix):]
                if left not in tokens or right not in tokens:
                    continue
            if (left, right) not in merges:
                merges.append((left, right))
                tokens[merged] = None
    return list(tokens), merges


def model():
    kind = either("BPE", "BPE", "BPE", "Unigram", "Unigram", "WordPiece", "WordLevel")
    letters = alphabet(kind)
    unknown = either("<unk>", "<unk>", "<unk>", "?")
    made = {"type": kind}
    if kind == "BPE":
        prefix, suffix = (either("", "", "", "##"), either("", "", "", "</w>"))
        tokens, merges = merges_and_words(letters, prefix, suffix)
        if maybe(.8):
            tokens.append("<unk>")
        chance.shuffle(tokens)
        made |= {"dropout": None, "unk_token": either(unknown, unknown, None), "continuing_subword_prefix": prefix or None,
                 "end_of_word_suffix": suffix or None, "fuse_unk": maybe(.5), "byte_fallback": maybe(.4),
                 "ignore_merges": maybe(.3), "vocab": {token: i for i, token in enumerate(dict.fromkeys(tokens))},
                 "merges": [list(pair) for pair in merges] if maybe(.7) or any(" " in "".join(pair) for pair in merges)
                 else [" ".join(pair) for pair in merges]}
        return made
    tokens = list(dict.fromkeys(letters + ["".join(chance.choices([l for l in letters if len(l) == 1], k=chance.randint(2, 4)))
                                           for _ in range(40)] + LETTERS + ["▁a", "▁ab", "Ġa", " a"] + ["<unk>"]))
    chance.shuffle(tokens)
    if kind == "Unigram":
        scores = [either(-1.0, -2.0, -2.5, -3.0, -4.0, -6.0) * (1.0 if maybe(.5) else len(token)) for token in tokens]
        made |= {"vocab": [[token, score] for token, score in zip(tokens, scores)],
                 "unk_id": either(tokens.index("<unk>"), tokens.index("<unk>"), 0, None), "byte_fallback": maybe(.4)}
    elif kind == "WordPiece":
        tokens = list(dict.fromkeys(tokens + ["##" + token for token in tokens if maybe(.8)]))
        made |= {"unk_token": "<unk>", "continuing_subword_prefix": either("##", "##", "", "_"),
                 "max_input_chars_per_word": either(100, 100, 4), "vocab": {token: i for i, token in enumerate(tokens)}}
    else:
        made |= {"unk_token": "<unk>", "vocab": {token: i for i, token in enumerate(tokens)}}
    return made


def decoder(depth=0):
    kind = either("ByteLevel", "ByteLevel", "WordPiece", "Metaspace", "Metaspace", "Replace", "Replace", "ByteFallback", "Fuse",
                  "Strip", "BPEDecoder", "CTC", "Sequence", "Sequence", "Sequence")
    made = {"type": kind}
    if kind == "Sequence":
        made["decoders"] = [decoder(depth + 1) for _ in range(chance.randint(0, 4))] if depth < 2 else []
    elif kind == "ByteLevel":
        made = byte_level()
    elif kind == "WordPiece":
        made |= {"prefix": either("##", "##", "_"), "cleanup": maybe(.5)}
    elif kind == "Metaspace":
        made = metaspace()
    elif kind == "Replace":
        made |= {"pattern": pattern(), "content": either(" ", "", "▁", "x")}
    elif kind == "Strip":
        made |= {"content": either(" ", "a", "▁"), "start": chance.randint(0, 2), "stop": chance.randint(0, 1)}
    elif kind == "BPEDecoder":
        made["suffix"] = either("</w>", "a")
    elif kind == "CTC":
        made |= {"pad_token": either("<pad>", "<x>", "b"), "word_delimiter_token": either("|", "a"), "cleanup": maybe(.5)}
    return made


def post_processor(size):
    def token():
        return chance.randrange(size)
    kind = either("Template", "Bert", "Roberta", "ByteLevel", "Sequence")
    if kind == "Template":
        special = {"<p>": {"id": "<p>", "ids": [token()], "tokens": ["<p>"]},
                   "<q>": {"id": "<q>", "ids": [token(), token()], "tokens": ["<q>", "<r>"]}}
        single = [{"SpecialToken": {"id": either("<p>", "<q>"), "type_id": 0}} for _ in range(chance.randint(0, 2))]
        single.append({"Sequence": {"id": "A", "type_id": 0}})
        single += [{"SpecialToken": {"id": either("<p>", "<q>"), "type_id": 0}} for _ in range(chance.randint(0, 2))]
        return {"type": "TemplateProcessing", "single": single,
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": special}
    if kind == "Bert":
        return {"type": "BertProcessing", "sep": ["x", token()], "cls": ["y", token()]}
    if kind == "Roberta":
        return {"type": "RobertaProcessing", "sep": ["x", token()], "cls": ["y", token()], "trim_offsets": maybe(.5),
                "add_prefix_space": maybe(.5)}
    if kind == "ByteLevel":
        return byte_level()
    return {"type": "Sequence", "processors": [byte_level()]}


def added_tokens(model):
    vocabulary = model["vocab"] if isinstance(model["vocab"], dict) else {t: i for i, (t, _) in enumerate(model["vocab"])}
    contents = chance.sample(["<x>", "<y>", "<z>", "<Z>", "<x><y>", "ab", "▁▁", "  ", "é", "[a]", "<unk>", "日本", "Ġa", " <z>"], chance.randint(0, 5))
    made, following = [], len(model["vocab"])
    for content in contents:
        if content in vocabulary:
            own = vocabulary[content]
        else:
            own, following = following, following + 1
        made.append({"id": own, "content": content, "single_word": maybe(.2), "lstrip": maybe(.3), "rstrip": maybe(.3),
                     "normalized": maybe(.5), "special": maybe(.5)})
    return made, following


def tokenizer():
    made = {"version": "1.0", "truncation": None, "padding": None, "normalizer": normalizer() if maybe(.6) else None,
            "pre_tokenizer": pre_tokenizer() if maybe(.85) else None, "decoder": decoder() if maybe(.85) else None, "model": model()}
    made["added_tokens"], size = added_tokens(made["model"])
    made["post_processor"] = post_processor(size) if maybe(.6) else None
    return made, size


def value_of(call):
    try:
        return call()
    except BaseException as error:  # the library panics
        return {"error": str(error)}


def results_of(text, texts, ids):
    theirs = Tokenizer.from_str(text)

    def encoded(line):
        return {"ids": theirs.encode(line, add_special_tokens=False).ids, "ends": theirs.encode(line).ids}
    return {"encoded": [value_of(lambda: encoded(line)) for line in texts],
            "decoded": [value_of(lambda: theirs.decode(one, skip_special_tokens=False)) for one in ids]}


def answer(pipe, made, ids):
    """Sends the results of a file, and more ids. The library panics, and for some files never ends."""
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
    text = json.dumps(made)
    right = value_of(lambda: results_of(text, TEXTS, ids))
    more = []
    if "error" not in right:  # texts decode, too
        more = [one["ids"] for one in right["encoded"] if "ids" in one]
        right["decoded"] += results_of(text, [], more)["decoded"]
    pipe.send((right, more))


def draw():
    """A file, texts, ids, and the results of both, {"error": …} in the place of what is refused; of the
    next file for which the library ends."""
    while True:
        made, size = tokenizer()
        ids = [[chance.randrange(size) for _ in range(chance.randint(0, 8))] for _ in range(10)]
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=answer, args=(theirs, made, ids))
        process.start()
        theirs.close()
        try:
            right, more = ours.recv()
        except EOFError:
            continue
        finally:
            process.join()
        return {"tokenizer": made, "texts": TEXTS, "ids": ids + more}, right
