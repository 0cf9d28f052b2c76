#!/usr/bin/env bash
# threads.sh [STEPS]: trains `pronounce` with the same seed on 1, 2 and 3 threads for STEPS (200) steps,
# and compares the checkpoints.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
steps=${1:-200}

install_packages "${build_packages[@]}" pocketsphinx-en-us
build_targets pronounce

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
for threads in 1 2 3; do
  log "Training $steps steps on $threads threads"
  "$build/examples/pronounce" train --max-steps "$steps" --threads "$threads" \
    --out "$work/$threads" >"$work/train.log" 2>&1 ||
    fail "training failed: $(tail -n 1 "$work/train.log")"
done

log "Comparing"
for threads in 2 3; do
  cmp "$work/1/last.h5" "$work/$threads/last.h5" ||
    fail "the checkpoint of $threads threads differs from that of 1 thread"
done
echo "1, 2 and 3 threads: identical checkpoints of $(stat -c %s "$work/1/last.h5") bytes after" \
  "$steps steps (weights, optimizer state and data position)"
