#!/usr/bin/env bash
# keras_models.sh: writes a model for each layer and option with Keras 3 and with Keras 2, compares weft's
# outputs with Keras's, and loads the models that weft saves again in Keras. Takes about an hour. Needs
# Python with tensorflow, keras, tf_keras and h5py.
#   PYTHON=python3   KERAS_MODELS=FOLDER keeps the models
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
python=${PYTHON:-python3}
scripts=$repository/tests/golden/keras_models

install_packages "${build_packages[@]}" catch2
build_targets weft_tests_golden

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
models=${KERAS_MODELS:-$work}
for version in 3 2; do
  option=()
  [ $version = 3 ] || option=(--keras2)
  folder=$models/keras$version
  if [ ! -f "$folder/done" ]; then
    log "Writing models with Keras $version"
    mkdir -p "$folder"
    "$python" "$scripts/write_models.py" "$folder" "${option[@]}" 2>"$folder/log" ||
      fail "cannot write the models: $(tail -n 3 "$folder/log")"
    touch "$folder/done"
  fi
  log "Comparing with Keras $version"
  WEFT_KERAS_MODELS=$folder "$build/tests/weft_tests_golden" "[.keras_models]"
  "$python" "$scripts/load_saved.py" "$folder" "${option[@]}" 2>/dev/null
done
