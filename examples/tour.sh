#!/usr/bin/env bash
# Installs what is missing, builds, and runs the programs that show the ideas of attention one by
# one. Their pictures are then in build/tour/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages g++ cmake ninja-build libeigen3-dev libhdf5-dev libcxxopts-dev gnuplot-nox \
  pocketsphinx-en-us
programs=(toy_tasks)
build_targets "${programs[@]}"

for program in "${programs[@]}"; do
  say "$program"
  "$build/examples/$program" --out "$build/tour"
done
