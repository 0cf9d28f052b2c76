"""The benchmark of generation with CTranslate2: greedy, from a random GPT-2 of transformers.

usage: generate_ctranslate2.py LAYERS HEADS WIDTH VOCABULARY POSITIONS BATCH PROMPT NEW THREADS
       SECONDS [float32|int8]
prints: median_ms tokens prompt_ms peak_mib
"""
import sys
import tempfile

try:
    import ctranslate2
    import tokenizers
    import transformers
except ImportError as error:
    sys.exit(f"CTranslate2: not measured, {error}")

from generation import arguments, random_model, random_prompts, report


def save_with_vocabulary(model, names, folder):
    """The converter reads the names of the tokens from a tokenizer beside the model."""
    words = tokenizers.models.WordLevel({name: i for i, name in enumerate(names)}, names[0])
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(words),
                                         unk_token=names[0], bos_token=names[0],
                                         eos_token=names[0]).save_pretrained(folder)
    model.save_pretrained(folder)


options = arguments("generate_ctranslate2.py", ["float32", "int8"])
names = [f"t{i}" for i in range(options.vocabulary)]
with tempfile.TemporaryDirectory() as folder:
    save_with_vocabulary(random_model(options), names, f"{folder}/transformers")
    ctranslate2.converters.TransformersConverter(f"{folder}/transformers").convert(
        f"{folder}/converted")
    generator = ctranslate2.Generator(f"{folder}/converted", compute_type=options.precision,
                                      inter_threads=1, intra_threads=options.threads)
prompts = [[names[i] for i in prompt] for prompt in random_prompts(options).tolist()]


def generate(count):
    results = generator.generate_batch(prompts, max_length=count, min_length=count, sampling_topk=1,
                                       beam_size=1, include_prompt_in_result=False)
    assert all(len(result.sequences_ids[0]) == count for result in results)


report(generate, options)
