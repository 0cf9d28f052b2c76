#!/usr/bin/env bash
# tokenizers.sh: compares PretrainedTokenizer with Hugging Face's tokenizers. Of every kind (splits of
# GPT-2, Llama 3, Qwen, SmolLM and Falcon; SentencePiece's byte pairs with bytes for unknown
# characters; unigram; WordPiece), a tokenizer is learned there; the ids and decoded texts of 1,200
# lines in many scripts and of 6 MB must be equal. Prints the speed of both on one thread, in turn.
# MODEL adds the tokenizer.json of a folder. Needs Python with tokenizers from pip; without it,
# nothing is compared, and the script says so.
#   ROUNDS=3 PYTHON=python3 MODEL=
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
python=${PYTHON:-python3}

"$python" -c 'import tokenizers' 2>/dev/null || {
  echo "SKIPPED: $python has no package tokenizers; please install: pip install tokenizers"
  exit 0
}
install_packages "${build_packages[@]}" catch2
build_targets tokenize
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
log "Comparing with tokenizers"
"$python" "$repository/tests/tokenizers/compare.py" "$build/tests/tokenize" "$work" "${ROUNDS:-3}"
