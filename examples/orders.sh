#!/usr/bin/env bash
# orders.sh MODEL: fine-tunes a Hugging Face model, such as SmolLM2, to write orders as JSON. Trains
# adapters of rank 8 on the 300 examples of examples/data/orders.jsonl. Before and after training,
# counts the correct answers for the 40 orders of examples/data/orders_held_out.jsonl, which have
# different items, colours, names, towns and phrases. All output goes to build/orders/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
model=${1-}
[ -f "$model/config.json" ] || fail "expected a folder with config.json, got '$model'"

install_packages "${build_packages[@]}"
build_targets gpt

gpt=$build/examples/gpt
data=$repository/examples/data
out=$build/orders
question=$(sed -n '1s/.*"prompt": "\(.*\)", "answer".*/\1/p' "$data/orders_held_out.jsonl" | sed 's/\\n/\n/')

log "Before"
echo "$question"
"$gpt" sample --model "$model" --chat --temperature 0 --tokens 60 --prompt "$question"
"$gpt" evaluate --model "$model" --data "$data/orders_held_out.jsonl"
log "Training"
rm -rf -- "$out"
"$gpt" finetune --model "$model" --data "$data/orders.jsonl" \
  --validation "$data/orders_held_out.jsonl" --samples 2 --out "$out" --lora 8 \
  --layers '.*attention.*|.*ffn.*' --length 256 --batch 2 --epochs 3 --lr 1e-3 \
  --precision bf16
log "After"
echo "$question"
"$gpt" sample --model "$out" --chat --temperature 0 --tokens 60 --prompt "$question"
"$gpt" evaluate --model "$out" --data "$data/orders_held_out.jsonl" --lines
