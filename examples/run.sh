#!/usr/bin/env bash
# Installs what is missing, builds, checks the gradients, and trains and tries out a model that
# pronounces English. Everything it makes is in build/; pictures and weights in build/pronounce/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages g++ cmake ninja-build libeigen3-dev libhdf5-dev libxxhash-dev libcxxopts-dev gnuplot-nox \
  pocketsphinx-en-us
build_targets pronounce

pronounce=$build/examples/pronounce
folder=$build/pronounce
model=$folder/best.h5

say "Checking the gradient of every parameter of a small model"
"$pronounce" gradcheck
say "Training"
rm -rf -- "$folder"
"$pronounce" train --out "$folder"
say "Evaluating on words that training never saw: greedily, then with a beam of 4"
"$pronounce" evaluate --model "$model"
"$pronounce" evaluate --model "$model" --beam 4
say "Saying words, some of them in no dictionary"
"$pronounce" say --model "$model" weaving thoroughly nevermore blorptastic zyxomatic
"$pronounce" say --model "$model" --beam 8 --n-best 3 quixotically
say "Drawing the attention"
"$pronounce" attention --model "$model" --picture "$folder/attention.svg" pronounce
