#!/usr/bin/env bash
# Installs what is missing, builds, and runs the programs that show the ideas of attention one by
# one. Their pictures are then in build/tour/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages g++ cmake ninja-build libeigen3-dev libhdf5-dev libxxhash-dev libcxxopts-dev gnuplot-nox \
  pocketsphinx-en-us
programs=(kernel_regression self_attention positional_encoding heads_study sequence_layers
  toy_tasks)
build_targets pronounce "${programs[@]}"

# What heads_study looks into: the model of run.sh, or one that is trained here for an epoch.
model=$build/pronounce/best.h5
if [ ! -f "$model" ]; then
  model=$build/tour/pronounce/best.h5
  if [ ! -f "$model" ]; then
    say "Training a model that pronounces, for heads_study"
    rm -rf -- "$build/tour/pronounce"
    "$build/examples/pronounce" train --epochs 1 --out "$build/tour/pronounce"
  fi
fi
declare -A options=([heads_study]="--model $model")

for program in "${programs[@]}"; do
  say "$program"
  # Unquoted: one word an option.
  "$build/examples/$program" --out "$build/tour" ${options[$program]:-}
done
