#!/usr/bin/env bash
# tokenizers.sh: compares PretrainedTokenizer with Hugging Face's tokenizers. Of every kind (splits of
# GPT-2, Llama 3, Qwen, SmolLM and Falcon; SentencePiece's byte pairs with bytes for unknown
# characters; unigram; WordPiece), a tokenizer is learned there; the ids and decoded texts of 1,200
# lines in many scripts and of 6 MB must be equal. Prints the speed of both on one thread, in turn.
# MODEL adds the tokenizer.json of a folder. Before that, compares splits and replacements by 299
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
compare=$repository/tests/tokenizers
# Where the library panics, it prints where.
export RUST_BACKTRACE=0
log "Comparing regular expressions"
"$python" "$compare/compare_patterns.py" "$build/tests/run_cases" "$work" 2>"$work/panics" ||
  fail "regular expressions differ (see above)"
log "Comparing combinations"
"$python" "$compare/compare_combinations.py" "$build/tests/run_cases" "$work" "${COUNT:-2000}" \
  "${SEED:-1}" 2>"$work/panics" || fail "combinations differ (see above)"
log "Comparing with tokenizers"
"$python" "$compare/compare.py" "$build/tests/tokenize" "$work" "${ROUNDS:-3}"
