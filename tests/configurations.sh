#!/usr/bin/env bash
# configurations.sh: varies what the files beside the weights say: config.json of every architecture
# that weft loads, adapter_config.json of PEFT's adapters, and the files of sentence encoders, one
# entry at a time and in pairs. Each variant of a small random model must give the results of
# transformers, PEFT or sentence-transformers in double precision, or be refused by name; entries that
# are listed as harmless must be accepted. Prints how many are equal and refused, and which are refused
# although the other library runs them. Needs Python with torch, transformers, peft and
# sentence-transformers; without them, nothing is compared, and the script says so.
#   PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
python=${PYTHON:-python3}

"$python" -c 'import torch, transformers, peft, sentence_transformers' 2>/dev/null || {
  echo "SKIPPED: $python lacks a package; please install: pip install torch transformers peft" \
    "sentence-transformers"
  exit 0
}
install_packages "${build_packages[@]}" catch2
build_targets configuration_results
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
log "Comparing configurations"
"$python" "$repository/tests/configurations/compare.py" "$build/tests/configuration_results" "$work"
