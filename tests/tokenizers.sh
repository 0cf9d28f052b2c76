#!/usr/bin/env bash
# tokenizers.sh: compares PretrainedTokenizer with Hugging Face's tokenizers.
#   - Compares splits and replacements by 301 regular expressions.
#   - Compares COUNT tokenizer files with random steps and flags, with seeds from SEED on.
#   - Learns a tokenizer of each kind with Hugging Face's library: the splits of GPT-2, Llama 3, Qwen,
#     SmolLM and Falcon; SentencePiece's byte pairs with bytes for unknown characters; unigram;
#     WordPiece. MODEL adds the tokenizer.json of a folder. The ids and decoded strings of 1,200 lines in
#     many scripts and of 6 MB must be equal. Prints the speed of both on one thread, in turn.
# Needs Python with tokenizers. If the package is missing, prints SKIPPED and compares nothing.
#   COUNT=2000 SEED=1 ROUNDS=3 PYTHON=python3 MODEL=
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
python=${PYTHON:-python3}

"$python" -c 'import tokenizers' 2>/dev/null || {
  echo "SKIPPED: $python has no package tokenizers; please install: pip install tokenizers"
  exit 0
}
install_packages "${build_packages[@]}" catch2
build_targets tokenize run_cases
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
scripts=$repository/tests/tokenizers
# If Hugging Face's library panics, it prints where.
export RUST_BACKTRACE=0
compare() { # WHAT SCRIPT [ARGUMENT...]
  log "Comparing $1"
  "$python" "$scripts/$2" "$build/tests/run_cases" "$work" "${@:3}" 2>"$work/errors" || {
    tail -n 1 "$work/errors" >&2
    fail "$1: failed (see above)"
  }
}
compare "regular expressions" compare_patterns.py
compare combinations compare_combinations.py "${COUNT:-2000}" "${SEED:-1}"
log "Comparing with tokenizers"
"$python" "$scripts/compare.py" "$build/tests/tokenize" "$work" "${ROUNDS:-3}"
