#!/usr/bin/env bash
# tokenizers.sh: compares PretrainedTokenizer with Hugging Face's tokenizers. Of every kind (splits of
# GPT-2, Llama 3, Qwen, SmolLM and Falcon; SentencePiece's byte pairs with bytes for unknown
# characters; unigram; WordPiece), a tokenizer is learned there; the ids and decoded texts of 1,200
# lines in many scripts and of 6 MB must be equal. Prints the speed of both on one thread, in turn.
# MODEL adds the tokenizer.json of a folder. Before that, compares splits and replacements by 301
# regular expressions, and COUNT files whose steps and flags are drawn at random, from SEED on. Needs
# Python with tokenizers from pip; without it, nothing is compared, and the script says so.
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
# Where the library panics, it prints where.
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
