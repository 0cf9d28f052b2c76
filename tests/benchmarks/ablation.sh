#!/usr/bin/env bash
# ablation.sh TEXT [SEEDS]: trains variants of the recipe of `gpt train --preset muon` with several seeds
# ("1 2 3" by default). The base has squared ReLU and as many key/value heads as heads in place of the
# preset's --modern, and a learning rate of 0.03; each other variant differs from it by one choice. Prints for each variant the mean
# validation loss over all of the last tenth of the text, its difference from the base's, the largest
# difference between seeds, and the median seconds of the whole program. ONLY selects variants by a
# regular expression; the base is always trained. Run it on an otherwise idle machine.
#   THREADS=<processors> STEPS=1000 ONLY=.
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
text=${1-} steps=${STEPS:-1000} only=${ONLY:-.}
read -r -a seeds <<<"${2:-1 2 3}"
[ -r "$text" ] || fail "expected a readable text file, got '$text'"
[ $# -le 2 ] || fail "expected TEXT and SEEDS, got '$3'"
for number in "${seeds[@]}" "$steps"; do
  [[ $number =~ ^[1-9][0-9]{0,8}$ ]] || fail "seeds and STEPS: expected numbers, got '$number'"
done

# Each variant: its name, and its options after a colon, which are added to those of the base.
base="--modern=false --rms-norm --rotary --squared-relu --lr 0.03"
variants=(
  "the base:"
  "AdamW with lr 2e-3:--muon=false --lr 2e-3"
  "LayerNorm:--rms-norm=false"
  "learned positions:--rotary=false"
  "no norm of queries and keys:--qk-norm=false"
  "GELU:--squared-relu=false"
  "nonzero initial weights:--zero-init=false"
  "tied output layer:--untied=false"
  "cosine:--decay 0"
  "SwiGLU, 2 kv heads:modern"
  "the preset (also lr 0.015):preset"
  "no weight decay:--weight-decay 0"
  "AdamW's factor 0.1:--adamw-lr-factor 0.1"
  "lr 0.02:--lr 0.02"
  "batch 24, half the steps:--batch 24 --steps $(((steps + 1) / 2))"
  "context 128, batch 6:--context 128 --batch 6"
)

install_packages "${build_packages[@]}"
build_targets gpt
gpt=$build/examples/gpt
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# Prints the seconds of training and the validation loss.
train() { # SEED [OPTION...]
  local start=$EPOCHREALTIME out=$work/model seconds
  rm -rf -- "$out"
  # The last of repeated options counts.
  "$gpt" train --preset muon --text "$text" --out "$out" --seed "$1" --threads "$threads" \
    --validate-every "$steps" --steps "$steps" "${@:2}" >"$work/log" 2>&1 ||
    fail "gpt train: $(tail -n 1 "$work/log")"
  seconds=$(awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
  "$gpt" evaluate --model "$out/last.h5" --text "$text" --split validation --threads "$threads" |
    awk -v s="$seconds" '$1 == "loss" { print s, $2 }'
}

log "Training on $threads threads, seeds ${seeds[*]}"
lscpu | grep -E '^(Model name|L2|L3)' || true
row='%-32s %8s %10s %8s %9s\n'
printf "$row" variant loss difference spread seconds
for i in "${!variants[@]}"; do
  name=${variants[i]%%:*}
  [ "$i" = 0 ] || [[ $name =~ $only ]] || continue
  read -r -a options <<<"$base ${variants[i]#*:}"
  case ${variants[i]#*:} in
    modern) options=(--lr 0.03) ;;
    preset) options=() ;;
  esac
  for seed in "${seeds[@]}"; do train "$seed" "${options[@]}" >>"$work/$i"; done
  [ "$i" != 0 ] || base_loss=$(awk '{ sum += $2 } END { print sum / NR }' "$work/0")
  awk -v name="$name" -v base="$base_loss" -v seconds="$(cut -d' ' -f1 "$work/$i" | median)" -v row="$row" '
    { sum += $2; if (NR == 1 || $2 < low) low = $2; if (NR == 1 || $2 > high) high = $2 }
    END { printf row, name, sprintf("%.4f", sum / NR), sprintf("%+.4f", sum / NR - base),
                 sprintf("%.4f", high - low), sprintf("%.1f", seconds) }' "$work/$i"
done
