#!/usr/bin/env bash
# run.sh [WORKLOAD …]: times training steps of weft and of the installed peers, each in a separate process
# and in turn. Prints a table and writes it to build/benchmarks.csv. weft is also timed on one thread, in
# bf16, and built for any x86-64 processor (weft-portable).
# The workloads are W1 to W5, W6, W6-128 to W6-8192, `layers` (RNN, GRU, LSTM, BiLSTM, SwiGLU, RMSNorm,
# GQA and pooling, which can also be named separately) and `operations`, which times each of weft's
# operations. By default, all of them run. `run.sh generate` runs generate.sh. Run it on an otherwise idle
# machine. PROGRAMS limits the table to some programs; weft is always measured.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> PYTHON=python3 PROGRAMS="weft weft-bf16 jax"
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
[ "$*" != generate ] || exec bash "$repository/tests/benchmarks/generate.sh"
python=${PYTHON:-python3}
peers=$repository/tests/benchmarks/peers
layers=(RNN GRU LSTM BiLSTM SwiGLU RMSNorm GQA pooling)
workloads=()
[ $# -gt 0 ] ||
  set -- W1 W2 W3 W4 W5 W6 W6-{128,256,512,1024,2048,4096,8192} layers operations
for workload in "$@"; do
  if [ "$workload" = layers ]; then workloads+=("${layers[@]}"); else workloads+=("$workload"); fi
done
for workload in "${workloads[@]}"; do
  [[ $workload =~ ^(W[1-6]|W6-(128|256|512|1024|2048|4096|8192)|operations)$ ||
    " ${layers[*]} " = *" $workload "* ]] ||
    fail "expected workloads W1 … W6, W6-128 … W6-8192, layers, one of ${layers[*]}, or" \
      "operations, got '$workload'"
done

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark
weft=$build/tests/weft_benchmark

# Prints the median milliseconds, the tokens, the FLOPs (weft only) and the peak memory in MiB of a run.
run_program() {
  case $1 in
    weft) "$weft" step "$2" full "$threads" "$seconds" ;;
    weft-bf16) "$weft" step "$2" bf16 "$threads" "$seconds" ;;
    weft-1-thread) "$weft" step "$2" full 1 "$seconds" ;;
    weft-portable) "$build/portable/tests/weft_benchmark" step "$2" full "$threads" "$seconds" ;;
    torch-eager) "$python" "$peers/torch_step.py" "$2" "$threads" "$seconds" eager full ;;
    torch-compile) "$python" "$peers/torch_step.py" "$2" "$threads" "$seconds" compile full ;;
    torch-bf16-eager) "$python" "$peers/torch_step.py" "$2" "$threads" "$seconds" eager bf16 ;;
    torch-bf16-compile) "$python" "$peers/torch_step.py" "$2" "$threads" "$seconds" compile bf16 ;;
    torch-c++) "$torch_cpp" "$2" "$threads" "$seconds" ;;
    jax) "$python" "$peers/jax_step.py" "$2" "$threads" "$seconds" ;;
  esac
}
threads_of() { [ "$1" = weft-1-thread ] && echo 1 || echo "$threads"; }
precision_of() { [[ $1 = *bf16* ]] && echo bf16 || echo full; }

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
programs=(weft weft-portable)
has_bf16=false
if "$weft" limits bf16 1 0 >"$work/bf16" 2>&1; then
  programs+=(weft-bf16)
  has_bf16=true
else
  echo "bf16: not measured: $(tail -n 1 "$work/bf16")"
fi
[ "$threads" = 1 ] || programs+=(weft-1-thread)
if "$python" -c 'import torch' 2>/dev/null; then
  programs+=(torch-eager torch-compile)
  ! $has_bf16 || programs+=(torch-bf16-eager torch-bf16-compile)
  torch_cpp=$build/torch_step
  if bash "$peers/build_torch_cpp.sh" "$python" "$torch_cpp" >"$work/torch_cpp.log" 2>&1; then
    programs+=(torch-c++)
  else
    echo "PyTorch's C++ API: not measured, its program failed to build:" \
      "$(tail -n 1 "$work/torch_cpp.log")"
  fi
else
  echo "PyTorch: not measured, $python has no module torch"
fi
if "$python" -c 'import jax' 2>/dev/null; then
  programs+=(jax)
else
  echo "JAX: not measured, $python has no module jax"
fi
if [ -n "${PROGRAMS-}" ]; then
  read -r -a asked <<<"$PROGRAMS"
  for program in "${asked[@]}"; do
    [[ " ${programs[*]} " = *" $program "* ]] ||
      fail "PROGRAMS: expected some of ${programs[*]}, got '$program'"
  done
  programs=(weft)
  for program in "${asked[@]}"; do [ "$program" = weft ] || programs+=("$program"); done
fi

if [[ " ${programs[*]} " = *" weft-portable "* && ${workloads[*]} != operations ]]; then
  (
    build=$build/portable preset=portable
    build_targets weft_benchmark
  )
fi

log "Measuring on $threads threads, $rounds rounds of ${seconds}s each"
lscpu | grep -E '^(Model name|L2|L3)' || true
csv=$build/benchmarks.csv
echo "workload,program,threads,median_ms,tokens_per_s,ratio_to_weft,utilisation,peak_mib" >"$csv"
row='%-9s %-18s %11s %12s %9s %12s %10s\n'
printf "$row" workload program median_ms tokens_per_s ratio utilisation peak_mib
for workload in "${workloads[@]}"; do
  [ "$workload" != operations ] || continue
  rm -f -- "$work"/*.runs "$work"/limits.*
  failed=()
  for ((round = 0; round < rounds; ++round)); do
    for program in "${programs[@]}"; do
      echo "$(precision_of "$program") $(threads_of "$program")"
    done | sort -u | while read -r precision count; do
      "$weft" limits "$precision" "$count" 1 >>"$work/limits.$precision.$count"
    done
    for program in "${programs[@]}"; do
      [[ " ${failed[*]-} " != *" $program "* ]] || continue
      [[ $program != *bf16* || $workload = W* ]] || continue
      if ! run_program "$program" "$workload" >>"$work/$program.runs" 2>"$work/errors"; then
        failed+=("$program")
        [ "$program" != weft ] || fail "$workload: $(tail -n 1 "$work/errors")"
      fi
    done
  done
  weft_ms=$(cut -d' ' -f1 "$work/weft.runs" | median)
  for program in "${programs[@]}"; do
    [[ $program != *bf16* || $workload = W* ]] || continue
    count=$(threads_of "$program")
    if [[ " ${failed[*]-} " = *" $program "* ]]; then
      printf "$row" "$workload" "$program" failed - - - -
      echo "$workload,$program,$count,,,,," >>"$csv"
      continue
    fi
    limit=$(cut -d' ' -f1 "$work/limits.$(precision_of "$program").$count" | median)
    ms=$(cut -d' ' -f1 "$work/$program.runs" | median)
    peak=$(awk '{ print $NF }' "$work/$program.runs" | median)
    awk -v w="$workload" -v p="$program" -v t="$count" -v ms="$ms" -v weft_ms="$weft_ms" \
      -v peak="$peak" -v limit="$limit" -v csv="$csv" -v row="$row" \
      -v tokens="$(awk '{ print $2; exit }' "$work/$program.runs")" \
      -v flops="$(awk '{ print $3; exit }' "$work/weft.runs")" 'BEGIN {
        utilisation = sprintf("%.1f %%", flops / ms * 1e-4 / limit)
        printf row, w, p, sprintf("%.4g", ms), sprintf("%.0f", tokens / ms * 1e3),
               sprintf("%.2f", ms / weft_ms), utilisation, sprintf("%.0f", peak)
        printf "%s,%s,%d,%.6g,%.0f,%.3f,%.4f,%.1f\n", w, p, t, ms, tokens / ms * 1e3, ms / weft_ms,
               flops / ms * 1e-6 / limit, peak >>csv
      }'
  done
done
echo "ratio: time relative to weft. utilisation: FLOP rate of the step's matrix products, relative" \
  "to a 2048³ product of the same precision in the same run."
for workload in "${workloads[@]}"; do
  [ "$workload" = operations ] || continue
  log "Operations" && "$weft" operations "$threads" "$seconds"
  log "Kernels of products, on one thread" && "$weft" products 1 "$seconds"
done
echo "wrote $csv"
