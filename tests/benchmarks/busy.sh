#!/usr/bin/env bash
# busy.sh [WORKLOAD …]: measures the speed of weft on a busy machine, with several settings of OpenMP.
# Times the workloads (by default, W1, W2, W5 and sampling; see run.sh) on an idle machine and next to
# one and two busy processes, in turn, and prints the mean milliseconds per step. Includes PyTorch if it
# is installed and has the workload.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
python=${PYTHON:-python3}
workloads=("$@")
[ $# -gt 0 ] || workloads=(W1 W2 W5 sampling)

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark

settings=("no setting" GOMP_SPINCOUNT=10000 OMP_WAIT_POLICY=passive "1 thread")
if "$python" -c 'import torch' 2>/dev/null; then
  settings+=(PyTorch "PyTorch, passive")
else
  echo "PyTorch: not measured, $python has no module torch"
fi

# Prints the mean milliseconds per step.
run_setting() { # SETTING WORKLOAD
  local weft=("$build/tests/weft_benchmark" mean "$2" full)
  local torch=("$python" "$repository/tests/benchmarks/peers/torch_step.py" "$2" "$threads"
    "$seconds" eager full)
  case $1 in
    "no setting") "${weft[@]}" "$threads" "$seconds" ;;
    "1 thread") "${weft[@]}" 1 "$seconds" ;;
    PyTorch) "${torch[@]}" | cut -d' ' -f3 ;;
    "PyTorch, passive") OMP_WAIT_POLICY=passive "${torch[@]}" | cut -d' ' -f3 ;;
    *) env "$1" "${weft[@]}" "$threads" "$seconds" ;;
  esac
}

work=$(mktemp -d)
busy=()
# The busy processes must be in this shell's session, because Linux first divides time among sessions.
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

log "Measuring on $threads threads and $(nproc) processors, $rounds rounds of ${seconds}s each"
row='%-9s %-24s %9s %9s %9s\n'
printf "$row" workload setting idle '1 busy' '2 busy'
for workload in "${workloads[@]}"; do
  for ((round = 0; round < rounds; ++round)); do
    for others in 0 1 2; do
      start_busy "$others"
      for i in "${!settings[@]}"; do
        [[ ${settings[i]} != PyTorch* || $workload = W* ]] || continue
        run_setting "${settings[i]}" "$workload" >>"$work/$workload.$i.$others"
      done
      end_busy
    done
  done
  for i in "${!settings[@]}"; do
    [ -f "$work/$workload.$i.0" ] || continue
    printf "$row" "$workload" "${settings[i]}" \
      $(for others in 0 1 2; do printf '%.4g ' "$(median <"$work/$workload.$i.$others")"; done)
  done
done
