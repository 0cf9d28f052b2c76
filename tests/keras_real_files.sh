#!/usr/bin/env bash
# keras_real_files.sh FOLDER: opens all Keras models in a folder, *.h5 and *.keras, for example of public
# repositories, and compares weft's outputs for random inputs with Keras's. Prints a table: the largest
# difference relative to the largest output, or why weft refuses the file, and its layers. Needs Python with
# tensorflow, keras, tf_keras and h5py.
#   PYTHON=python3
[ $# = 1 ] || { sed -n '2,6s/^# //p' "$0"; exit 2; }
folder=$(realpath -- "$1")
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages "${build_packages[@]}" catch2
build_targets weft_tests_golden

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
log "Running the models in Keras"
"${PYTHON:-python3}" "$repository/tests/golden/keras_models/write_outputs.py" "$folder" "$work" 2>"$work/log" ||
  fail "cannot run the models: $(tail -n 3 "$work/log")"
log "Comparing"
WEFT_KERAS_MODELS=$work "$build/tests/weft_tests_golden" "[.keras_real_files]"
