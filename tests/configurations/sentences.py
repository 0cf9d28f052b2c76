"""Variants of the files of sentence encoders, and the results of sentence-transformers."""

import json
import shutil
import warnings

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

from models import reference
from variants import BASES

warnings.simplefilter("ignore")
WORDS = ("[PAD] [UNK] [CLS] [SEP] [MASK] hello world the loom weaves cloth a b c ##s . query : Loom "
         "Hello é e caf ##e ##é").split()
WORDS += [f"tok{i}" for i in range(46 - len(WORDS))]
TEXTS = ["hello world", "The Loom weaves cloth.", "a zzz b", "Hello zzz, ZZZ", "café [SEP] CAFÉ",
         "helloZZZ yyy", "a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c"]
TRANSFORMER = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
DENSE = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
NORMALIZE = {"idx": 3, "name": "3", "path": "3_Normalize",
             "type": "sentence_transformers.models.Normalize"}
NEW = {"idx": 0, "name": "0", "path": "",
       "type": "sentence_transformers.base.modules.transformer.Transformer"}
PLAIN = [TRANSFORMER, POOLING]
MEAN = {"word_embedding_dimension": 24, "pooling_mode_mean_tokens": True}
LINEAR = {"in_features": 24, "out_features": 10, "bias": True,
          "activation_function": "torch.nn.modules.activation.Tanh"}


def pooling(**modes):
    return {"modules.json": PLAIN, "1_Pooling/config.json": {"word_embedding_dimension": 24, **modes}}


def dense(modules=(TRANSFORMER, POOLING, DENSE, NORMALIZE), **changes):
    return {"modules.json": list(modules), "1_Pooling/config.json": MEAN,
            "2_Dense/config.json": {**LINEAR, **changes}}


def prompts(**changes):
    return {"modules.json": PLAIN, "1_Pooling/config.json": MEAN, "config_sentence_transformers.json": {
        "prompts": {"query": "query: ", "document": "the "}, "default_prompt_name": None, **changes}}




def vocabulary(words):
    return {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
            "post_processor": None, "decoder": None, "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": {word: i for i, word in enumerate(words)}}}


TOKENIZER = {"do_lower_case": True, "tokenizer_class": "BertTokenizer"}
CASES = {
    "plain": {}, "modules.json": {"modules.json": PLAIN, "1_Pooling/config.json": MEAN},
    "newer names": {"modules.json": [NEW, POOLING], "1_Pooling/config.json": MEAN},
    "normalized": {"modules.json": [TRANSFORMER, POOLING, NORMALIZE], "1_Pooling/config.json": MEAN},
    "cls": pooling(pooling_mode_cls_token=True), "max": pooling(pooling_mode_max_tokens=True),
    "last": pooling(pooling_mode_lasttoken=True), "no mode": pooling(),
    "sqrt": pooling(pooling_mode_mean_sqrt_len_tokens=True),
    "weighted": pooling(pooling_mode_weightedmean_tokens=True),
    "mean and max": pooling(pooling_mode_mean_tokens=True, pooling_mode_max_tokens=True),
    "newer cls": pooling(pooling_mode="cls"), "newer list": pooling(pooling_mode=["max"]),
    "newer two": pooling(pooling_mode=["mean", "max"]), "newer lasttoken": pooling(pooling_mode="lasttoken"),
    "newer before older": pooling(pooling_mode="max", pooling_mode_cls_token=True),
    "unknown mode": pooling(pooling_mode="median"), "unknown field": pooling(pooling_mode_median=True),
    "dense": dense(), "dense without bias": dense(bias=False),
    "dense, identity": dense(activation_function="torch.nn.modules.linear.Identity"),
    "dense, relu": dense(activation_function="torch.nn.modules.activation.ReLU"),
    "dense, gelu": dense(activation_function="torch.nn.modules.activation.GELU"),
    "dense, sigmoid": dense(activation_function="torch.nn.modules.activation.Sigmoid"),
    "dense, softplus": dense(activation_function="torch.nn.modules.activation.Softplus"),
    "dense, residual": dense(use_residual=True), "dense, wrong sizes": dense(in_features=20),
    "dense of tokens": dense(module_input_name="token_embeddings"),
    "dense after sqrt": {**dense(), "1_Pooling/config.json": {
        "word_embedding_dimension": 24, "pooling_mode_mean_sqrt_len_tokens": True}},
    "dense after normalize": dense([TRANSFORMER, POOLING, NORMALIZE, DENSE]),
    "another module": {"modules.json": [TRANSFORMER, POOLING, {
        "idx": 2, "name": "2", "path": "2_LayerNorm", "type": "sentence_transformers.models.LayerNorm"}],
        "1_Pooling/config.json": MEAN},
    "no pooling": {"modules.json": [TRANSFORMER]},
    "prompts without default": prompts(), "default query": prompts(default_prompt_name="query"),
    "default document": prompts(default_prompt_name="document"),
    "default without prompt": prompts(default_prompt_name="none such"),
    "similarity": prompts(similarity_fn_name="cosine"),
    "prompt not pooled": {**prompts(default_prompt_name="query"), "1_Pooling/config.json": {
        **MEAN, "include_prompt": False}},
    "no prompt, not pooled": {**prompts(), "1_Pooling/config.json": {**MEAN, "include_prompt": False}},
    "cased": {"tokenizer_config.json": {**TOKENIZER, "do_lower_case": False}},
    "accents kept": {"tokenizer_config.json": {**TOKENIZER, "strip_accents": False}},
    "accents removed": {"tokenizer_config.json": {
        **TOKENIZER, "do_lower_case": False, "strip_accents": True}},
    "lower case of the encoder": {"tokenizer_config.json": {**TOKENIZER, "do_lower_case": False},
                                  "sentence_bert_config.json": {"do_lower_case": True}},
    "not lower case of the encoder": {"tokenizer_config.json": TOKENIZER,
                                      "sentence_bert_config.json": {"do_lower_case": False}},
    "lower case, accents removed": {
        "tokenizer_config.json": {**TOKENIZER, "do_lower_case": False, "strip_accents": True},
        "sentence_bert_config.json": {"do_lower_case": True}},
    "max_seq_length": {"sentence_bert_config.json": {"max_seq_length": 8}},
    "max_seq_length of another name": {"sentence_roberta_config.json": {"max_seq_length": 8}},
    "long max_seq_length": {"sentence_bert_config.json": {"max_seq_length": 60}},
    "model_max_length": {"tokenizer_config.json": {**TOKENIZER, "model_max_length": 9}},
    "max_seq_length and model_max_length": {
        "tokenizer_config.json": {**TOKENIZER, "model_max_length": 9},
        "sentence_bert_config.json": {"max_seq_length": 12}},
    "an unknown field": {"sentence_bert_config.json": {"max_seq_length": 8, "none_such": 1}},
    "added": {"added_tokens.json": {"zzz": 46}}, "two added": {"added_tokens.json": {"yyy": 47, "zzz": 46}},
    "added, cased": {"added_tokens.json": {"zzz": 46},
                     "tokenizer_config.json": {**TOKENIZER, "do_lower_case": False}},
    "added of the vocabulary": {"added_tokens.json": {"hello": 5}},
    "added with another id": {"added_tokens.json": {"zzz": 47}},
    "added decoder": {"tokenizer_config.json": {**TOKENIZER, "added_tokens_decoder": {"46": {
        "content": "zzz", "lstrip": False, "rstrip": False, "single_word": False, "normalized": False,
        "special": True}}}},
    "usual decoder": {"tokenizer_config.json": {**TOKENIZER, "added_tokens_decoder": {"2": {
        "content": "[CLS]", "lstrip": False, "rstrip": False, "single_word": False, "normalized": False,
        "special": True}}}},
    "another cls": {"tokenizer_config.json": {**TOKENIZER, "cls_token": "hello"}},
    "another cls in the map": {"special_tokens_map.json": {"cls_token": "hello"}},
    "usual map": {"special_tokens_map.json": {"cls_token": "[CLS]", "unk_token": {"content": "[UNK]"}}},
    "truncated on the left": {"tokenizer_config.json": {**TOKENIZER, "truncation_side": "left"}},
    "Chinese not split": {"tokenizer_config.json": {**TOKENIZER, "tokenize_chinese_chars": False}},
    "no basic tokenizer": {"tokenizer_config.json": {**TOKENIZER, "do_basic_tokenize": False}},
    "vocabulary of tokenizer.json": {"tokenizer.json": vocabulary(WORDS), "vocab.txt": None},
    "another vocabulary in tokenizer.json": {"tokenizer.json": vocabulary(
        WORDS[:5] + WORDS[:4:-1]), "tokenizer_config.json": TOKENIZER},
    "never split": {"tokenizer_config.json": {**TOKENIZER, "never_split": ["Hello"]}},
}
# Without modules.json, sentence-transformers does not read the encoder's configuration.
for files in CASES.values():
    if any(name.startswith("sentence_") for name in files):
        files.update({"modules.json": PLAIN, "1_Pooling/config.json": MEAN})
MUST = ["plain", "modules.json", "newer names", "normalized", "cls", "max", "dense", "default query",
        "added", "added, cased", "lower case of the encoder", "max_seq_length", "newer cls", "usual map",
        "usual decoder", "no mode", "model_max_length", "vocabulary of tokenizer.json",
        "another vocabulary in tokenizer.json"]


def jobs(folder):
    entries = {**BASES["bert"], "max_position_embeddings": 32}
    state, _, _ = reference("bert", entries)
    for number, (name, files) in enumerate(CASES.items()):
        path = folder / str(number)
        path.mkdir(parents=True)
        save_file({key: value.float() for key, value in state.items()}, path / "model.safetensors")
        (path / "vocab.txt").write_text("".join(word + "\n" for word in WORDS), "utf-8")
        for file, contents in {"config.json": entries, **files}.items():
            if contents is None:
                (path / file).unlink()
                continue
            (path / file).parent.mkdir(exist_ok=True)
            (path / file).write_text(json.dumps(contents))
        if "2_Dense/config.json" in files:
            torch.manual_seed(3)
            (path / "2_Dense").mkdir(exist_ok=True)
            columns = files["2_Dense/config.json"]["in_features"]
            weights = {"linear.weight": torch.randn(10, columns) * 0.3, "linear.bias": torch.randn(10)}
            if not files["2_Dense/config.json"]["bias"]:
                del weights["linear.bias"]
            if files["2_Dense/config.json"].get("use_residual"):
                weights["residual.weight"] = torch.randn(10, columns)
            save_file(weights, path / "2_Dense/model.safetensors")
        result = None
        copy = folder.parent / "sentences_reference"
        shutil.copytree(path, copy)
        try:
            model = SentenceTransformer(str(copy), device="cpu")
            result = {"values": torch.nn.functional.normalize(
                model.encode(TEXTS, convert_to_tensor=True, show_progress_bar=False)).flatten().tolist()}
        except Exception:  # whatever sentence-transformers refuses
            pass
        shutil.rmtree(copy)
        (path / "job.json").write_text(json.dumps({"kind": "embed", "texts": TEXTS}))
        yield path, f"sentences: {name}", result, name in MUST and result is not None
