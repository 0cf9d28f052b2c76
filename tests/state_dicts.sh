#!/usr/bin/env bash
# state_dicts.sh: saves models in PyTorch's layouts and as Hugging Face folders, and loads the files in
# PyTorch and transformers with all names (strict=True). Needs Python with torch, transformers and h5py.
#   PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages "${build_packages[@]}" catch2
build_targets weft_tests_golden

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
WEFT_STATE_DICTS=$work "$build/tests/weft_tests_golden" "[.state_dicts]" >"$work/log" ||
  fail "cannot save the models: $(cat "$work/log")"
log "Loading the files in PyTorch"
"${PYTHON:-python3}" "$repository/tests/golden/load_state_dicts.py" "$work"
