#!/usr/bin/env bash
# Installs missing packages, builds weft, checks the gradients, and trains, evaluates and runs a model
# of English pronunciation. All output goes to build/, plots and weights to build/pronounce/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"

install_packages "${build_packages[@]}" gnuplot-nox pocketsphinx-en-us
build_targets pronounce

pronounce=$build/examples/pronounce
directory=$build/pronounce
model=$directory/best.h5

log "Checking the gradient of every parameter of a small model"
"$pronounce" gradcheck
log "Training"
rm -rf -- "$directory"
"$pronounce" train --out "$directory"
log "Evaluating on the test words: greedy search, then beam search of width 4"
"$pronounce" evaluate --model "$model"
"$pronounce" evaluate --model "$model" --beam 4
log "Pronouncing words, including some that are in no dictionary"
"$pronounce" say --model "$model" weaving thoroughly nevermore blorptastic zyxomatic
"$pronounce" say --model "$model" --beam 8 --n-best 3 quixotically
log "Drawing the attention weights"
"$pronounce" attention --model "$model" --picture "$directory/attention.svg" pronounce
