#!/usr/bin/env bash
# processes.sh: times training steps with two processes of one thread each and with one process of two
# threads, in turn, for W3 and W5 in two parts. Prints the bytes that each process sends per step, the
# minimum possible number of bytes, and the latency and bandwidth of messages.
#   ROUNDS=5 SECONDS_EACH=2
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"

install_packages "${build_packages[@]}" catch2 "${mpi_packages[@]}"
build_targets weft_benchmark
weft=$build/tests/weft_benchmark

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
together() { mpiexec -n 2 "$weft" "$@" 1 "$seconds"; }

log "Measuring $rounds rounds of ${seconds}s each"
for ((round = 0; round < rounds; ++round)); do
  for workload in W3 W5; do
    OMP_NUM_THREADS=2 "$weft" train $workload 1 2 "$seconds" >>"$work/$workload whole"
    OMP_NUM_THREADS=2 "$weft" train $workload 2 2 "$seconds" >>"$work/$workload alone"
    OMP_NUM_THREADS=1 together train $workload 2 >>"$work/$workload together"
  done
  OMP_NUM_THREADS=1 together messages >>"$work/messages"
done

field() { cut -d' ' -f"$2" "$work/$1" | median; }
row='%-8s %14s %14s %14s %12s %14s %14s\n'
printf "$row" workload 1x2_1_part_ms 1x2_ms 2x1_ms throughput bytes_a_step least_bytes
for workload in W3 W5; do
  alone=$(field "$workload alone" 1) together=$(field "$workload together" 1)
  printf "$row" $workload "$(field "$workload whole" 1)" "$alone" "$together" \
    "$(awk "BEGIN { printf \"%.1f %%\", 100 * $alone / $together }")" \
    "$(field "$workload together" 3)" "$(field "$workload together" 4)"
done
echo "messages: $(field messages 1) µs, $(field messages 2) GB/s"
