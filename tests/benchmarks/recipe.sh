#!/usr/bin/env bash
# recipe.sh TEXT: trains nanoGPT's character model for CPUs (`gpt train --preset cpu`) in weft and, if it
# is installed, in PyTorch, in turn, with three seeds. Prints the seconds of training and the loss on the
# last tenth of the text. weft's time is that of the whole program, including validations and
# checkpoints. With --three-minutes, also trains weft's preset three-minutes. Run it on an otherwise idle
# machine.
#   SEEDS="1 2 3" THREADS=<processors> PYTHON=python3
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
python=${PYTHON:-python3}
read -r -a seeds <<<"${SEEDS:-1 2 3}"
programs=(weft)
for argument in "$@"; do
  case $argument in
    --three-minutes) programs+=(three-minutes) ;;
    *) text=$argument ;;
  esac
done
[ -r "${text-}" ] || fail "expected a readable text file, got '${text-}'"

install_packages "${build_packages[@]}"
build_targets gpt
gpt=$build/examples/gpt
if "$python" -c 'import torch' 2>/dev/null; then
  programs+=(torch)
else
  echo "PyTorch: not measured, $python has no module torch"
fi
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# Prints weft's seconds and loss.
run_preset() { # PRESET SEED
  local start=$EPOCHREALTIME
  "$gpt" train --preset "$1" --seed "$2" --text "$text" --out "$work/$1-$2" \
    --threads "$threads" >"$work/log" 2>&1 || fail "gpt train: $(tail -n 1 "$work/log")"
  local seconds
  seconds=$(awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { print to - from }')
  "$gpt" evaluate --model "$work/$1-$2/best.h5" --text "$text" --split validation \
    --threads "$threads" | awk -v s="$seconds" '{ for (i = 1; i < NF; ++i) if ($i == "loss") print s, $(i + 1) }'
}
run_program() { # PROGRAM SEED
  case $1 in
    weft) run_preset cpu "$2" ;;
    three-minutes) run_preset three-minutes "$2" ;;
    torch) "$python" "$repository/tests/benchmarks/peers/programs/nanogpt.py" "$text" "$2" \
      "$threads" | awk '{ print $1, $3 }' ;;
  esac
}

log "Training on $threads threads"
printf '%-14s %5s %9s %7s\n' program seed seconds loss
for seed in "${seeds[@]}"; do
  for program in "${programs[@]}"; do
    read -r seconds loss <<<"$(run_program "$program" "$seed")"
    printf '%-14s %5s %9.1f %7.4f\n' "$program" "$seed" "$seconds" "$loss"
    echo "$seconds" >>"$work/$program.seconds"
  done
done
for program in "${programs[@]}"; do
  [ "$program" = weft ] || echo "$program: $(awk -v a="$(median <"$work/$program.seconds")" \
    -v b="$(median <"$work/weft.seconds")" 'BEGIN { printf "%.2f", a / b }') times weft's seconds (medians)"
done
