#!/usr/bin/env bash
# state_dicts.sh: saves models in the layouts of PyTorch's programs and as folders of Hugging Face, and
# loads the files there, with all names (strict=True). Needs Python with torch, transformers and h5py
# from pip.
#   PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages "${build_packages[@]}" catch2
build_targets weft_tests_golden

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
WEFT_STATE_DICTS=$work "$build/tests/weft_tests_golden" "[.state_dicts]" >"$work/log" ||
  fail "the models could not be saved: $(cat "$work/log")"
log "Loading the files in PyTorch"
"${PYTHON:-python3}" "$repository/tests/golden/load_state_dicts.py" "$work"
