#!/usr/bin/env bash
# kill_and_resume.sh [KILLS]: trains a small `pronounce` model without interruption, and again with
# KILLS (20) kills (SIGKILL) at random times, after each of which training resumes. Compares the final
# checkpoints.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
kills=${1:-20}

install_packages "${build_packages[@]}" pocketsphinx-en-us
build_targets pronounce

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
train() {
  exec "$build/examples/pronounce" train --width 32 --layers 1 --heads 2 --epochs 2 \
    --max-steps 1200 --save-every 3 --out "$work/$1" "${@:2}" >>"$work/$1.log" 2>&1
}
seconds() { date +%s.%N; }
calculate() { awk "BEGIN { printf \"%.3f\", $1 }"; }

log "Training without interruption"
start=$(seconds)
(train uninterrupted) || fail "training failed: $(tail -n 1 "$work/uninterrupted.log")"
duration=$(calculate "$(seconds) - $start")
# Measured after the training, because the first start reads files that are not in memory.
start=$(seconds)
(train startup --max-steps 1) || fail "training failed: $(tail -n 1 "$work/startup.log")"
startup=$(calculate "$(seconds) - $start")
duration=$(calculate "$duration - $startup")
echo "1200 steps in $duration s, after $startup s of startup"

log "Training with $kills kills"
for ((kill = 1; kill <= kills; ++kill)); do
  # Kills sometimes during startup, but mostly during training. Together, the killed runs compute about
  # half of the steps.
  pause=$(calculate "$startup / 2 + ($startup / 2 + $duration / $kills) * $RANDOM / 32768")
  (train killed --resume) &
  process=$!
  sleep "$pause"
  kill -KILL $process 2>/dev/null || fail "the training ended before kill $kill"
  wait $process 2>/dev/null || true
  step=none
  [ ! -f "$work/killed/metrics.csv" ] || step=$(tail -n 1 "$work/killed/metrics.csv" | cut -d, -f1)
  echo "kill $kill after $pause s, near step $step"
done
(train killed --resume) || fail "training failed: $(tail -n 1 "$work/killed.log")"

log "Comparing"
cmp "$work/uninterrupted/last.h5" "$work/killed/last.h5" ||
  fail "the checkpoint after $kills kills differs from that of the uninterrupted training"
echo "$kills kills: identical checkpoints of $(stat -c %s "$work/uninterrupted/last.h5") bytes" \
  "(weights, optimizer state and data position)"
