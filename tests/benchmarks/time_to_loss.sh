#!/usr/bin/env bash
# time_to_loss.sh TEXT [gpt|pronounce|tasks]: measures the seconds until a model is good enough, program by
# program in turn, and prints the median over the seeds. Without a second argument, measures all three.
# Run it on an otherwise idle machine.
# gpt: a character model of TEXT with a validation loss of LOSS over all of the last tenth, with
#   `gpt train --preset muon`, with `--preset cpu`, and, if it is installed, with both recipes in PyTorch.
#   torch.optim.Muon computes in bfloat16, which is slow on processors without instructions for bfloat16, so
#   that the recipe is also measured with the same steps in float32.
#   A learning rate that falls until the end needs a number of steps: STEPS_MUON and STEPS_ADAMW should be
#   the lowest numbers that suffice for tinyshakespeare.
# pronounce: the word error rate of `pronounce train` on the CMU dictionary, and the rate with AdamW.
# tasks: the toy tasks `add` and `dates` until 99 % of the validation answers are correct.
# The times of weft are those of the whole program, including one validation and the checkpoints; the
# times of PyTorch are those of the training steps.
#   SEEDS=1 THREADS=<processors> PYTHON=python3 LOSS=1.88 STEPS_MUON=250 STEPS_ADAMW=2200
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
python=${PYTHON:-python3} target=${LOSS:-1.88}
steps_muon=${STEPS_MUON:-250} steps_adamw=${STEPS_ADAMW:-2200}
peers=$repository/tests/benchmarks/peers/programs
read -r -a seeds <<<"${SEEDS:-1}"
[ ${#seeds[@]} -gt 0 ] || fail "SEEDS: expected numbers, got '$SEEDS'"
for number in "${seeds[@]}" "$steps_muon" "$steps_adamw"; do
  [[ $number =~ ^[1-9][0-9]{0,8}$ ]] || fail "SEEDS, STEPS_MUON, STEPS_ADAMW: expected numbers, got '$number'"
done
[[ $target =~ ^[0-9]*\.?[0-9]+$ ]] || fail "LOSS: expected a loss, got '$target'"
text=${1-} parts=${2:-gpt pronounce tasks}
[ -r "$text" ] || fail "expected a readable text file, got '$text'"
[[ $parts =~ ^(gpt|pronounce|tasks|gpt pronounce tasks)$ ]] ||
  fail "expected gpt, pronounce or tasks, got '$parts'"

install_packages "${build_packages[@]}" pocketsphinx-en-us
build_targets gpt pronounce toy_tasks
examples=$build/examples
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
log "Training on $threads threads, seeds ${seeds[*]}"
lscpu | grep -E '^(Model name|L2|L3)' || true

# Runs a command with its output in $work/log, and sets $elapsed to its seconds.
timed() {
  local start=$EPOCHREALTIME
  "$@" >"$work/log" 2>&1 || fail "$1: $(tail -n 1 "$work/log")"
  elapsed=$(awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
}

# The functions below set $elapsed, and $result to the loss or the error rate.
weft_gpt() { # PRESET STEPS SEED
  timed "$examples/gpt" train --preset "$1" --steps "$2" --validate-every "$2" --seed "$3" \
    --text "$text" --out "$work/$1-$3" --threads "$threads"
  result=$("$examples/gpt" evaluate --model "$work/$1-$3/last.h5" --text "$text" --split validation \
    --threads "$threads" | awk '$1 == "loss" { print $2 }')
}
torch_gpt() { # PROGRAM STEPS SEED [OPTION...]
  timed "$python" "$peers/$1.py" "$text" "$3" "$threads" "$2" "${@:4}"
  read -r elapsed result <<<"$(awk '{ print $1, $NF }' "$work/log")"
}
pronounce() { # SEED [OPTION...]
  local out=$work/pronounce-$1
  rm -rf -- "$out"
  timed "$examples/pronounce" train --out "$out" --seed "$1" --threads "$threads" "${@:2}"
  result=$("$examples/pronounce" evaluate --model "$out/best.h5" --threads "$threads" |
    awk '/^word error rate/ { print $4 }')
}
task() { # TASK SEED
  timed "$examples/toy_tasks" --task "$1" --seed "$2" --out "$work/tasks" --threads "$threads"
  # "  step   300     4.2 s   99.2 % correct"
  read -r elapsed result <<<"$(awk '$1 == "step" && $5 >= 99 { print $3, $5; exit }' "$work/log")"
  [ -n "$elapsed" ] || elapsed=inf result=-
}

# Trains a program with each seed; prints a row for each, and keeps the values for the medians.
row='%-26s %6s %5s %9s %9s\n'
measure() { # NAME STEPS COMMAND... {SEED}
  local seed argument
  for seed in "${seeds[@]}"; do
    local command=()
    for argument in "${@:3}"; do command+=("${argument/SEED/$seed}"); done
    "${command[@]}"
    printf "$row" "$1" "$2" "$seed" "$elapsed" "$result"
    echo "$elapsed" >>"$work/$1.seconds"
    echo "$result" >>"$work/$1.results"
  done
}
medians() { # NAME...
  local name
  echo "medians:"
  for name in "$@"; do
    printf "$row" "$name" "" "" "$(median <"$work/$name.seconds")" "$(median <"$work/$name.results")"
  done
}

if [[ $parts = *gpt* ]]; then
  programs=("weft, Muon" "weft, AdamW")
  printf "$row" program steps seed seconds loss
  measure "weft, Muon" "$steps_muon" weft_gpt muon "$steps_muon" SEED
  measure "weft, AdamW" "$steps_adamw" weft_gpt cpu "$steps_adamw" SEED
  if "$python" -c 'import torch; torch.optim.Muon' 2>/dev/null; then
    measure "PyTorch, torch.optim.Muon" "$steps_muon" torch_gpt muon_gpt "$steps_muon" SEED bfloat16
    measure "PyTorch, Muon in float32" "$steps_muon" torch_gpt muon_gpt "$steps_muon" SEED float32
    measure "PyTorch, AdamW" "$steps_adamw" torch_gpt nanogpt "$steps_adamw" SEED
    programs+=("PyTorch, torch.optim.Muon" "PyTorch, Muon in float32" "PyTorch, AdamW")
  else
    echo "PyTorch: not measured, $python has no torch.optim.Muon (since torch 2.9)"
  fi
  medians "${programs[@]}"
  for name in "${programs[@]}"; do
    awk -v loss="$(median <"$work/$name.results")" -v target="$target" 'BEGIN { exit loss <= target }' ||
      continue
    echo "$name: does not reach a loss of $target in this number of steps"
  done
fi

if [[ $parts = *pronounce* ]]; then
  printf "$row" pronounce "" seed seconds "error %"
  measure "default" "" pronounce SEED
  measure "AdamW" "" pronounce SEED --muon=false --rms-norm=false --qk-norm=false \
    --squared-relu=false --batch 32 --lr 2e-3 --warmup 300 --decay 0 --beta2 0.999
  medians "default" "AdamW"
fi

if [[ $parts = *tasks* ]]; then
  printf "$row" task "" seed seconds "correct %"
  for name in add dates; do measure "$name" "" task "$name" SEED; done
  medians add dates
fi
