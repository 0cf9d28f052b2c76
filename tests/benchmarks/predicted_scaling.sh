#!/usr/bin/env bash
# predicted_scaling.sh: predicts the speed-up of training, generation and LoRA fine-tuning on 2 to 64
# threads, from the durations of the ranges of parallel loops, measured on one thread. For comparison,
# measures the speed-up on 2 threads. Prints a table, writes it to build/predicted_scaling.csv and draws
# it to build/predicted_scaling.svg.
#
# The prediction assigns each range of a loop to the first free thread. Code outside of parallel loops
# does not become faster. The prediction is an upper bound, because it assumes that caches and memory
# bandwidth grow with the number of threads. "W1/16" is W1 in 16 parts instead of the default number (see
# TrainerOptions::parts). Run it on an otherwise idle machine.
#   ROUNDS=5 SECONDS_EACH=2 WORKLOADS="W1 W2 W3 W4 W5 LoRA generation"
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
read -r -a workloads <<<"${WORKLOADS:-W1 W2 W3 W4 W5 LoRA generation}"

install_packages "${build_packages[@]}" catch2 gnuplot-nox
build_targets weft_benchmark
weft=$build/tests/weft_benchmark
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

log "Measuring on 1 and 2 threads, $rounds rounds of at least ${seconds}s each"
csv=$build/predicted_scaling.csv
header=workload,one_thread_ms,measured_2,predicted_2,predicted_of_measured
header+=,predicted_4,predicted_8,predicted_16,predicted_32,predicted_64
row='%-10s %12s %10s %11s %9s %7s %7s %7s %7s %7s\n'
echo "$header" >"$csv"
printf "$row" workload "1 thread, ms" "measured 2" "predicted 2" ratio 4 8 16 32 64
for workload in "${workloads[@]}"; do
  rm -f -- "$work"/*
  for ((round = 0; round < rounds; ++round)); do
    for count in 1 2; do
      "$weft" step "$workload" full "$count" "$seconds" | cut -d' ' -f1 >>"$work/$count" ||
        fail "$workload: cannot measure on $count threads"
    done
    paste -d' ' "$work/1" "$work/2" | tail -n 1 | awk '{ print $1 / $2 }' >>"$work/measured"
    "$weft" predict "$workload" full 1 "$seconds" >>"$work/predictions"
  done
  one=$(median <"$work/1") measured=$(median <"$work/measured")
  predictions=()
  for count in 2 4 8 16 32 64; do
    predictions+=("$(awk -v n="$count" '$1 == n { print $2 }' "$work/predictions" | median)")
  done
  awk -v name="$workload" -v one="$one" -v measured="$measured" -v predictions="${predictions[*]}" \
    -v csv="$csv" -v row="$row" 'BEGIN {
      split(predictions, p, " ")
      for (i = 1; i <= 6; ++i) p[i] = sprintf("%.2f", p[i])
      ratio = sprintf("%.2f", p[1] / measured)
      printf row, name, sprintf("%.3f", one), sprintf("%.2f", measured), p[1], ratio, p[2], p[3], p[4], p[5], p[6]
      printf "%s,%.4f,%.3f,%s,%s,%s,%s,%s,%s,%s\n", name, one, measured, p[1], ratio, p[2], p[3], p[4], p[5], p[6] >>csv
    }'
done

# Transpose the table for gnuplot: a row per number of threads, and a column per workload.
awk -F, 'NR == 1 { next }
  { name[++n] = $1; value[n, 1] = 1; value[n, 2] = $4; for (i = 3; i <= 7; ++i) value[n, i] = $(i + 3) }
  END {
    printf "threads"; for (k = 1; k <= n; ++k) printf ",%s", name[k]; print ""
    for (i = 1; i <= 7; ++i) { printf "%d", 2 ^ (i - 1); for (k = 1; k <= n; ++k) printf ",%s", value[k, i]; print "" }
  }' "$csv" >"$work/curves"
gnuplot -d -e "set terminal svg size 900,540 background '#ffffff'; set output '$build/predicted_scaling.svg';
  set datafile separator ','; set logscale xy 2; set xrange [1:64]; set yrange [1:64]; set key autotitle columnhead outside right; set grid;
  set xlabel 'threads'; set ylabel 'speed-up'; set title 'Speed-up of a step, predicted from ranges measured on one thread';
  plot x with lines dashtype 2 linecolor 'gray' title 'ideal', for [k = 2:$((${#workloads[@]} + 1))] '$work/curves' using 1:k with linespoints" ||
  fail "gnuplot failed"
echo "wrote $csv and $build/predicted_scaling.svg"
