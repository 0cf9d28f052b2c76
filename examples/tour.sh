#!/usr/bin/env bash
# Installs missing packages, builds weft, and runs the programs that demonstrate attention, one after
# another. The programs write their files to build/tour/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

# The model that heads_study inspects: the model of run.sh, or else a model trained here for one epoch.
model=$build/pronounce/best.h5
[ -f "$model" ] || model=$build/tour/pronounce/best.h5

# The programs in the order in which they run, each followed by its options.
programs=(
  kernel_regression
  self_attention
  positional_encoding
  "heads_study --model $model"
  sequence_layers
  toy_tasks
)

install_packages "${build_packages[@]}" gnuplot-nox pocketsphinx-en-us
# ${…%% *} removes the options.
build_targets pronounce "${programs[@]%% *}"

if [ ! -f "$model" ]; then
  log "Training a pronunciation model for heads_study"
  rm -rf -- "$build/tour/pronounce"
  "$build/examples/pronounce" train --epochs 1 --out "$build/tour/pronounce"
fi

for program in "${programs[@]}"; do
  name=${program%% *} options=${program#"${program%% *}"}
  log "$name"
  # Unquoted, to split the options into words.
  "$build/examples/$name" --out "$build/tour" $options
done
