#!/usr/bin/env bash
# processes.sh [KILLS]: trains a small `pronounce` model in one process, and again in one to four
# processes. At KILLS (20) random times, kills a random process (SIGKILL). After each kill, all processes
# must end within ten seconds; training then resumes with a different number of processes. The final
# checkpoints must be equal. Finally, sends signals to mpirun, after which training must finish the step
# and save a checkpoint.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
kills=${1:-20}

install_packages "${build_packages[@]}" "${mpi_packages[@]}" pocketsphinx-en-us
build_targets pronounce

export OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
seconds() { date +%s.%N; }
calculate() { awk "BEGIN { printf \"%.3f\", $1 }"; }
# train PROCESSES NAME [OPTION...]
train() {
  exec mpiexec -n "$1" "$build/examples/pronounce" train --width 32 --layers 1 --heads 2 \
    --epochs 2 --parts 4 --max-steps 1200 --save-every 3 --out "$work/$2" "${@:3}" \
    >>"$work/$2.log" 2>&1
}
# Prints the training processes started by mpiexec, which is process $1.
processes_of() { pgrep -P "$1" -x pronounce || true; }

log "Training in one process without interruption"
start=$(seconds)
(train 1 startup --max-steps 1) || fail "training failed: $(tail -n 30 "$work/startup.log")"
startup=$(calculate "$(seconds) - $start")
start=$(seconds)
(train 1 uninterrupted) || fail "training failed: $(tail -n 30 "$work/uninterrupted.log")"
duration=$(calculate "$(seconds) - $start - $startup")
echo "1200 steps in $duration s, after $startup s of startup"

log "Training with $kills kills"
for ((kill = 1; kill <= kills; ++kill)); do
  count=$((kill % 4 + 1))
  pause=$(calculate "$startup / 2 + ($startup / 2 + $duration * 1.5 / $kills) * $RANDOM / 32768")
  (train $count killed --resume) &
  launcher=$!
  sleep "$pause"
  mapfile -t running < <(processes_of $launcher)
  if [ ${#running[@]} -gt 0 ]; then
    kill -KILL "${running[RANDOM % ${#running[@]}]}" 2>/dev/null || true
  else
    kill -KILL $launcher 2>/dev/null || fail "the training ended before kill $kill"
  fi
  start=$(seconds)
  wait $launcher 2>/dev/null && fail "the training ended before kill $kill"
  for process in "${running[@]}"; do
    while kill -0 "$process" 2>/dev/null; do
      [ "$(calculate "($(seconds) - $start > 10)")" = 0.000 ] || fail "a process was still running ten seconds after kill $kill"
      sleep 0.05
    done
  done
  took=$(calculate "$(seconds) - $start")
  step=none
  [ ! -f "$work/killed/metrics.csv" ] || step=$(tail -n 1 "$work/killed/metrics.csv" | cut -d, -f1)
  echo "kill $kill, of one of $count processes after $pause s, near step $step: all ended in $took s"
done
(train 3 killed --resume) || fail "training failed: $(tail -n 30 "$work/killed.log")"

log "Comparing"
cmp "$work/uninterrupted/last.h5" "$work/killed/last.h5" ||
  fail "the checkpoint after $kills kills differs from that of the uninterrupted training"
echo "$kills kills: identical checkpoints of $(stat -c %s "$work/uninterrupted/last.h5") bytes"

# interrupt SIGNAL [OPTION...]
interrupt() {
  log "SIG$1 at mpiexec"
  # Without job control, a shell makes background processes ignore SIGINT.
  set -m
  (train 2 "$1" --max-steps 0 --save-every 0 "${@:2}") &
  launcher=$!
  set +m
  sleep "$(calculate "$startup + 2")"
  start=$(seconds)
  kill -"$1" $launcher
  wait $launcher 2>/dev/null || true
  grep -a '^interrupted after' "$work/$1.log" | sed "s|$work/||" ||
    fail "no checkpoint at SIG$1: $(tail -n 3 "$work/$1.log")"
  echo "ended in $(calculate "$(seconds) - $start") s"
}
# Interrupt a step that takes several seconds.
interrupt USR1 --width 256 --batch 4096
# Open MPI 5 always ends the processes half a second after a Ctrl-C, so they cannot save.
[[ $(mpiexec --version) = *"Open MPI) 5"* ]] || interrupt INT
