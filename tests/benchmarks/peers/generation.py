"""What the benchmarks of generation have in common: their arguments, a random GPT-2, the report."""
import argparse

import torch
import transformers

from measure import median_ms, peak_mib


def arguments(name, precisions):
    parser = argparse.ArgumentParser(prog=name)
    for size in ("layers", "heads", "width", "vocabulary", "positions", "batch", "prompt", "new",
                 "threads"):
        parser.add_argument(size, type=int)
    parser.add_argument("seconds", type=float)
    parser.add_argument("precision", nargs="?", default="float32", choices=precisions)
    options = parser.parse_args()
    if options.prompt + options.new > options.positions + 1:
        parser.error(f"expected prompt + new tokens of at most {options.positions} + 1 positions")
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return options


def random_model(options):
    """GPT-2 of the given sizes with the weights that training begins with."""
    config = transformers.GPT2Config(
        vocab_size=options.vocabulary, n_positions=options.positions, n_embd=options.width,
        n_layer=options.layers, n_head=options.heads, bos_token_id=None, eos_token_id=None)
    return transformers.GPT2LMHeadModel(config).eval()


def random_prompts(options):
    return torch.randint(options.vocabulary, (options.batch, options.prompt))


def report(generate, options):
    """Measures `generate(n)`, which chooses n tokens after each prompt, and prints:
    median_ms tokens prompt_ms peak_mib. prompt_ms is the time of the prompts and one token."""
    prompt_ms = median_ms(lambda: generate(1), options.seconds, warmup=2, least=3)
    ms = median_ms(lambda: generate(options.new), options.seconds, warmup=1, least=3)
    print(f"{ms:.6f} {options.batch * options.new} {prompt_ms:.6f} {peak_mib():.1f}")
