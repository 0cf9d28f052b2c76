#!/usr/bin/env bash
# configurations.sh: varies the configuration files of models, one entry at a time and in pairs:
# config.json of every architecture that weft loads, adapter_config.json of PEFT adapters, and the
# files of sentence encoders. For each variant, a small random model must either produce the same
# results as transformers, PEFT or sentence-transformers in double precision, or be refused with an
# error that names the entry. Entries listed as harmless must be accepted. Prints the numbers of equal
# and refused variants, and the variants that only weft refuses. Needs Python with torch, transformers,
# peft and sentence-transformers. If a package is missing, prints SKIPPED and compares nothing.
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
