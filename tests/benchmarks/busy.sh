#!/usr/bin/env bash
# busy.sh [WORKLOAD …]: the speed of weft beside other work. Measures the workloads (W1, W2, W5 and
# sampling by default, others as in run.sh) on an idle machine and beside one and two processes that
# are always busy, in turn, and prints how much of the fair share of the cores weft makes use of: a
# fair system gives each of n threads of which t are weft's the same time, so weft's share of its
# idle speed is min(1, processors / n).
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors>
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
processors=$(nproc)
workloads=("$@")
[ $# -gt 0 ] || workloads=(W1 W2 W5 sampling)

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark

work=$(mktemp -d)
busy=()
# The busy processes must be in this shell's session: Linux shares time among sessions first.
start_busy() {
  for ((i = 0; i < $1; ++i)); do
    while :; do :; done &
    busy+=($!)
  done
}
end_busy() {
  [ ${#busy[@]} = 0 ] || { kill "${busy[@]}" && wait "${busy[@]}" || true; } 2>/dev/null
  busy=()
}
trap 'end_busy; rm -rf -- "$work"' EXIT

log "Measuring on $threads threads and $processors processors, $rounds rounds of ${seconds}s each"
row='%-9s %8s %10s %16s\n'
printf "$row" workload busy mean_ms 'of fair share'
for workload in "${workloads[@]}"; do
  for ((round = 0; round < rounds; ++round)); do
    for others in 0 1 2; do
      start_busy "$others"
      "$build/tests/weft_benchmark" mean "$workload" full "$threads" "$seconds" \
        >>"$work/$workload.$others"
      end_busy
    done
  done
  idle=$(median <"$work/$workload.0")
  for others in 0 1 2; do
    ms=$(median <"$work/$workload.$others")
    awk -v row="$row" -v w="$workload" -v others="$others" -v ms="$ms" -v idle="$idle" \
      -v threads="$threads" -v processors="$processors" 'BEGIN {
        fair = processors / (threads + others)
        printf row, w, others, sprintf("%.4g", ms), sprintf("%.2f", idle / ms / (fair < 1 ? fair : 1))
      }'
  done
done
