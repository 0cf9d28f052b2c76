#!/usr/bin/env bash
# kill_and_resume.sh [KILLS]: trains a small `pronounce` without a stop, then once more while it is
# killed (SIGKILL) at 20 random instants and resumed each time, and compares the final
# checkpoints.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
kills=${1:-20}

install_packages g++ cmake ninja-build libeigen3-dev libhdf5-dev libxxhash-dev libcxxopts-dev \
  pocketsphinx-en-us
build_targets pronounce

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
train() {
  exec "$build/examples/pronounce" train --width 32 --layers 1 --heads 2 --epochs 2 \
    --max-steps 1200 --save-every 3 --out "$work/$1" "${@:2}" >>"$work/$1.log" 2>&1
}
seconds() { date +%s.%N; }
calculate() { awk "BEGIN { printf \"%.3f\", $1 }"; }

say "Training without a stop"
start=$(seconds)
(train first --max-steps 1) || stop "training failed: $(tail -n 1 "$work/first.log")"
to_start=$(calculate "$(seconds) - $start")
start=$(seconds)
(train whole) || stop "training failed: $(tail -n 1 "$work/whole.log")"
whole=$(calculate "$(seconds) - $start - $to_start")
echo "1200 steps in $whole s, after $to_start s to read the dictionary"

say "Training with $kills kills"
for ((kill = 1; kill <= kills; ++kill)); do
  # Sometimes while it starts, mostly within its steps; all together in fewer than there are.
  pause=$(calculate "$to_start / 2 + ($to_start / 2 + $whole * 1.5 / $kills) * $RANDOM / 32768")
  (train killed --resume) &
  process=$!
  sleep "$pause"
  kill -KILL $process 2>/dev/null || stop "the training ended before kill $kill"
  wait $process 2>/dev/null || true
  step=none
  [ ! -f "$work/killed/metrics.csv" ] || step=$(tail -n 1 "$work/killed/metrics.csv" | cut -d, -f1)
  echo "kill $kill after $pause s, near step $step"
done
(train killed --resume) || stop "training failed: $(tail -n 1 "$work/killed.log")"

say "Comparing"
cmp "$work/whole/last.h5" "$work/killed/last.h5" ||
  stop "a training killed $kills times ended with another checkpoint"
echo "after $kills kills the same $(stat -c %s "$work/whole/last.h5") bytes:" \
  "weights, optimizer and place in the data"
