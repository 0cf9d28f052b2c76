#!/usr/bin/env bash
# Installs missing packages, builds, and runs the programs that demonstrate attention, one after
# another. Their output files are in build/tour/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

# The model that heads_study inspects: that of run.sh, or one trained here for one epoch.
model=$build/pronounce/best.h5
[ -f "$model" ] || model=$build/tour/pronounce/best.h5

# In the order in which they run; options after the name.
programs=(
  kernel_regression
  self_attention
  positional_encoding
  "heads_study --model $model"
  sequence_layers
  toy_tasks
)

install_packages "${build_packages[@]}" gnuplot-nox pocketsphinx-en-us
# The names without their options.
build_targets pronounce "${programs[@]%% *}"

if [ ! -f "$model" ]; then
  log "Training a pronunciation model for heads_study"
  rm -rf -- "$build/tour/pronounce"
  "$build/examples/pronounce" train --epochs 1 --out "$build/tour/pronounce"
fi

for program in "${programs[@]}"; do
  name=${program%% *} options=${program#"${program%% *}"}
  log "$name"
  # Unquoted: splits into words.
  "$build/examples/$name" --out "$build/tour" $options
done
