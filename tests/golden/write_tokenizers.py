"""Writes tokenizers/: small tokenizer.json files of every form that PretrainedTokenizer reads,
learned by Hugging Face's tokenizers and by SentencePiece from a made-up text, each with lines, their
ids and the text that these decode to."""

import io
import json
import random
import tempfile
import unicodedata
from pathlib import Path

import sentencepiece
import sentencepiece.sentencepiece_model_pb2 as sentencepiece_model
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import trainers

folder = Path(__file__).with_name("tokenizers")
folder.mkdir(exist_ok=True)
random.seed(7)

parts = (["ba", "do", "ki", "lu", "ne", "ti", "sha", "or", "en", "wea", "ver", "thre", "é", "ü"] * 6
         + ["λα", "με", "νο", "во", "ка", "жё", "織", "糸", "ノード", "한올", "خيط", "सूत", "ผ้า"])
spaces = [" "] * 8 + ["  ", "   ", "\t", "\u00a0", "\u3000", "\u180e", "\u200b", "\u0085"]
others = [".", ",", "!", "...", "'s", "'LL", "’t", "(", ")", "12345", "2026-11-23", "٣٤", "½", "Ⅷ",
          "ﬁ", "e\u0301", "n\u0303", "Å", "İ", "ſ", "🧵", "👩‍🦱", "🇪🇺", "\u0345", "\x00", "\x1b",
          "<|end|>", "<s>", "</s>", "<|en", "▁", "ａｂｃ", "①", "\u0915\u093f", "'ſ"]


def line(plain):
    made = ""
    for _ in range(random.randint(2, 10)):
        word = "".join(random.choice(parts) for _ in range(random.randint(1, 4)))
        made += random.choice([word, word, word.capitalize(), word.upper()])
        if not plain and random.random() < 0.4:
            made += random.choice(others)
        made += " " if plain else random.choice(spaces)
    return made


text = [line(plain=True) for _ in range(1500)] + [line(plain=False) for _ in range(300)]
lines = ["", " ", "   ", " a", "a ", "  a  b   ", "\u0301a"] + [line(plain=False) for _ in range(60)]
size = 700


def write(name, tokenizer):
    tokenizer.no_padding()
    tokenizer.no_truncation()
    cases = []
    for one in lines:
        ids = tokenizer.encode(one, add_special_tokens=False).ids
        cases.append({"text": one, "ids": ids,
                      "with_ends": tokenizer.encode(one).ids,
                      "decoded": tokenizer.decode(ids, skip_special_tokens=False)})
    content = {"tokenizer": tokenizer.to_str(), "lines": cases}
    (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False, indent=0))


def pairs(name, pre_tokenizer, normalizer=None, decoder=None, post=None, **options):
    fallback = options.get("byte_fallback", False)
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder or decoders.ByteLevel()
    special = ["<unk>", "<s>", "</s>", "<|end|>"]
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)] if fallback else []
    tokenizer.train_from_iterator(text, trainers.BpeTrainer(
        vocab_size=size, special_tokens=special + bytes_, limit_alphabet=300, show_progress=False,
        initial_alphabet=[] if fallback else pre_tokenizers.ByteLevel.alphabet()))
    if fallback:  # bytes are no special tokens
        content = json.loads(tokenizer.to_str())
        content["added_tokens"] = [t for t in content["added_tokens"] if t["content"] in special]
        tokenizer = Tokenizer.from_str(json.dumps(content))
    if post:
        tokenizer.post_processor = post
    write(name, tokenizer)


def words(expression, behavior="isolated"):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(expression), behavior),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def letters_and_digits(digits):
    return (r"(?i:'s|'t|'ll)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits
            + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


begin = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
of_spaces = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(),
                               decoders.Fuse(), decoders.Strip(" ", 1, 0)])
pairs("gpt2", pre_tokenizers.ByteLevel(add_prefix_space=False))
pairs("prefix_space", pre_tokenizers.ByteLevel(add_prefix_space=True),
      post=processors.RobertaProcessing(("</s>", 2), ("<s>", 1)))
pairs("digits_apart", pre_tokenizers.Sequence([
    pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]))
pairs("whole_words", words(letters_and_digits(r"\p{N}{1,3}")), ignore_merges=True, post=begin)
pairs("composed", words(letters_and_digits(r"\p{N}")), normalizer=normalizers.NFC())
pairs("prepended", None, decoder=of_spaces, post=begin, byte_fallback=True, unk_token="<unk>",
      fuse_unk=True, normalizer=normalizers.Sequence(
          [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]))
pairs("metaspace", pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
      decoder=of_spaces, byte_fallback=True, unk_token="<unk>", fuse_unk=True)
pairs("unknown_fused", pre_tokenizers.WhitespaceSplit(), decoder=decoders.Fuse(),
      unk_token="<unk>", fuse_unk=True)
pairs("removed", words(r"[aeiou]", "removed"), normalizer=normalizers.Sequence(
    [normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()]))
pairs("with_previous", words(r"[aeiou ]", "merged_with_previous"), normalizer=normalizers.Sequence(
    [normalizers.NFD(), normalizers.StripAccents()]))
pairs("with_next", words(r"[aeiou ]", "merged_with_next"), normalizer=normalizers.NFKD())
pairs("contiguous", words(r"[aeiou ]", "contiguous"),
      normalizer=normalizers.Replace(Regex(r"\s+"), " "))

def learn_pieces():
    """Learns the vocabulary once: the order of a hash table decides between equal counts."""
    earlier = folder / "word_piece.json"
    if earlier.exists():
        return Tokenizer.from_str(json.loads(earlier.read_text())["tokenizer"])
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(text, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[UNK]", "[CLS]", "[SEP]", "<|end|>"], limit_alphabet=200,
        show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return tokenizer


write("word_piece", learn_pieces())

# A table of NFKC for the characters here: SentencePiece's own has a quarter of a megabyte.
rules = [f"{ord(c):X}\t{' '.join(f'{ord(d):X}' for d in unicodedata.normalize('NFKC', c))}"
         for c in sorted(set("".join(others + spaces))) if unicodedata.normalize("NFKC", c) != c]
rules += ["65 301\tE9", "6E 303\tF1", "9\t20", "200B\t20"]
table = tempfile.NamedTemporaryFile("w", suffix=".tsv")
table.write("\n".join(rules) + "\n")
table.flush()
stored = io.BytesIO()
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(text), model_writer=stored, vocab_size=size, pad_id=0, eos_id=1, unk_id=2,
    bos_id=-1, minloglevel=2, normalization_rule_tsv=table.name)
learned = sentencepiece_model.ModelProto.FromString(stored.getvalue())
unigram = Tokenizer(models.Unigram([(p.piece, p.score) for p in learned.pieces], unk_id=2))
unigram.normalizer = normalizers.Sequence([
    normalizers.Precompiled(learned.normalizer_spec.precompiled_charsmap),
    normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")])
unigram.pre_tokenizer = pre_tokenizers.Metaspace()
unigram.decoder = decoders.Metaspace()
unigram.add_special_tokens(["<pad>", "</s>", "<unk>"])
unigram.post_processor = processors.TemplateProcessing(
    single="$A </s>", special_tokens=[("</s>", 1)])
write("unigram", unigram)
