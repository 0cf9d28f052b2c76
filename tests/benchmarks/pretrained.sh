#!/usr/bin/env bash
# pretrained.sh MODEL [start|generate|finetune]: measures a Hugging Face model folder with the Llama
# architecture in weft and in the installed peers, in turn, and prints tables. Run it on an otherwise
# idle machine.
# start: the time of a process until it has printed the first token after a short prompt, with the files
#   in the system's cache.
# generate: greedy generation of 64 tokens after prompts of 16 and 512 tokens, in weft and transformers.
#   If LLAMA_BENCH is the program llama-bench, also in llama.cpp with the files GGUF and GGUF_BF16, which
#   its convert_hf_to_gguf.py writes from MODEL.
# finetune: steps of AdamW on batches of BATCH × LENGTH tokens of this machine's licences, in weft and in
#   transformers with PEFT. Trains adapters of rank 8, with and without recomputing activations, and all
#   weights. Both begin with the same adapters; in full precision, the losses must agree within 1e-5.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> PYTHON=python3 BATCH=4 LENGTH=512 STEPS=20
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
python=${PYTHON:-python3} batch=${BATCH:-4} length=${LENGTH:-512} steps=${STEPS:-20}
peers=$repository/tests/benchmarks/peers
model=${1-}
[ -f "$model/config.json" ] || fail "expected a folder with config.json, got '$model'"
parts=${2:-start generate finetune}
[[ $parts =~ ^(start|generate|finetune|start generate finetune)$ ]] ||
  fail "expected start, generate or finetune, got '$parts'"
for file in "${GGUF-}" "${GGUF_BF16-}"; do
  [ -z "$file" ] || [ -n "${LLAMA_BENCH-}" ] || fail "'$file' has no effect without LLAMA_BENCH"
  [ -z "$file" ] || [ -r "$file" ] || fail "expected a GGUF file, got '$file'"
done
"$python" -c 'import torch, transformers, peft' || fail "Python packages are missing; please install: pip install torch transformers peft"

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark gpt
weft=$build/tests/weft_benchmark
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
log "Measuring on $threads threads, $rounds rounds"
lscpu | grep -E '^(Model name|L2|L3)' || true

# Prints "median_ms tokens prompt_ms peak_mib".
generate() {
  local program=$1 prompt=$2 new=64
  case $program in
    weft) "$weft" pretrained "$model" "$prompt" $new full "$threads" "$seconds" ;;
    weft-bf16) "$weft" pretrained "$model" "$prompt" $new bf16 "$threads" "$seconds" ;;
    transformers) "$python" "$peers/generate_pretrained.py" "$model" "$prompt" $new float32 "$threads" "$seconds" ;;
    transformers-bf16) "$python" "$peers/generate_pretrained.py" "$model" "$prompt" $new bfloat16 "$threads" "$seconds" ;;
    llama.cpp) llama "$GGUF" "$prompt" $new ;;
    llama.cpp-bf16) llama "$GGUF_BF16" "$prompt" $new ;;
  esac
}
# llama-bench measures reading the prompt and generating after it separately.
llama() {
  "$LLAMA_BENCH" -m "$1" -t "$threads" -r 3 -ngl 0 -p "$2" -n 0 -o json >"$work/prompt.json"
  "$LLAMA_BENCH" -m "$1" -t "$threads" -r 3 -ngl 0 -p 0 -n "$3" -d "$2" -o json >"$work/new.json"
  "$python" - "$work/prompt.json" "$work/new.json" "$3" <<'PYTHON'
import json, statistics, sys
prompt, new = (statistics.median(json.load(open(file))[0]["samples_ns"]) / 1e6 for file in sys.argv[1:3])
count = int(sys.argv[3])
# Reading the prompt already yields the first token.
print(prompt + new * (count - 1) / count, count, prompt, "-")
PYTHON
}

# Prints the losses, followed by "median_ms tokens peak_mib".
finetune() {
  local program=$1 adapters=$2
  local of=("$model" "$work/text" "$adapters" "$batch" "$length" "$steps")
  case $program in
    weft) "$weft" finetune "${of[@]}" full 0 "$threads" 0 ;;
    weft-recompute) "$weft" finetune "${of[@]}" full 1 "$threads" 0 ;;
    weft-bf16) "$weft" finetune "${of[@]}" bf16 0 "$threads" 0 ;;
    torch) "$python" "$peers/finetune_peft.py" "${of[@]}" full 0 "$threads" ;;
    torch-recompute) "$python" "$peers/finetune_peft.py" "${of[@]}" full 1 "$threads" ;;
    torch-bf16) "$python" "$peers/finetune_peft.py" "${of[@]}" bf16 0 "$threads" ;;
    torch-bf16-weights) "$python" "$peers/finetune_peft.py" "${of[@]}" bf16-weights 0 "$threads" ;;
  esac
}

# Prints the first token.
start() {
  local prompt='The capital of France is'
  case $1 in
    weft) "$build/examples/gpt" sample --model "$model" --prompt "$prompt" --tokens 1 ;;
    weft-bf16) "$build/examples/gpt" sample --model "$model" --prompt "$prompt" --tokens 1 --weights bf16 ;;
    transformers) first_token float32 "$prompt" ;;
    transformers-bf16) first_token bfloat16 "$prompt" ;;
    llama.cpp) "$LLAMA_BENCH" -m "$GGUF" -t "$threads" -r 1 --no-warmup -ngl 0 -p 5 -n 0 ;;
    llama.cpp-bf16) "$LLAMA_BENCH" -m "$GGUF_BF16" -t "$threads" -r 1 --no-warmup -ngl 0 -p 5 -n 0 ;;
  esac
}
first_token() {
  "$python" - "$model" "$threads" "$@" <<'PYTHON'
import sys
import torch, transformers
folder, threads, precision, prompt = sys.argv[1:]
torch.set_num_threads(int(threads))
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, precision))
inputs = tokenizer(prompt, return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=1, do_sample=False)[0]))
PYTHON
}

programs=(weft weft-bf16 transformers transformers-bf16)
[ -z "${GGUF-}" ] || programs+=(llama.cpp)
[ -z "${GGUF_BF16-}" ] || programs+=(llama.cpp-bf16)
[[ ${programs[*]} = *llama* ]] || echo "llama.cpp: not measured, LLAMA_BENCH, GGUF and GGUF_BF16 are not set"

if [[ $parts = *start* ]]; then
  cat -- "$model"/* ${GGUF:+"$GGUF"} ${GGUF_BF16:+"$GGUF_BF16"} >/dev/null
  rm -f -- "$work"/*.runs
  for ((round = 0; round < rounds; ++round)); do
    for program in "${programs[@]}"; do
      begin=$EPOCHREALTIME
      OMP_NUM_THREADS=$threads start "$program" >"$work/output" 2>"$work/errors" ||
        fail "$program: $(tail -n 1 "$work/errors")"
      awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' >>"$work/$program.runs"
    done
  done
  row='%-18s %9s\n'
  printf "$row" program seconds
  for program in "${programs[@]}"; do
    printf "$row" "$program" "$(printf '%.2f' "$(median <"$work/$program.runs")")"
  done
  echo "seconds: from the start of the process to its end, after one token; llama.cpp reads 5 tokens."
fi

if [[ $parts = *generate* ]]; then
  row='%6s %-18s %9s %9s %10s %9s\n'
  printf "$row" prompt program tokens/s ratio prompt_ms peak_mib
  for prompt in 16 512; do
    rm -f -- "$work"/*.runs
    for ((round = 0; round < rounds; ++round)); do
      for program in "${programs[@]}"; do
        generate "$program" "$prompt" >>"$work/$program.runs" 2>"$work/errors" ||
          fail "$program: $(tail -n 1 "$work/errors")"
      done
    done
    ms_of() { awk '{ print ($1 - $3) / ($2 - 1) }' "$work/$1.runs" | median; }
    for program in "${programs[@]}"; do
      base=weft
      [[ $program != *-bf16 ]] || base="weft-bf16"
      awk -v prompt="$prompt" -v p="$program" -v ms="$(ms_of "$program")" -v w="$(ms_of "$base")" \
        -v prompt_ms="$(cut -d' ' -f3 "$work/$program.runs" | median)" \
        -v peak="$(awk '{ print $4; exit }' "$work/$program.runs")" -v row="$row" 'BEGIN {
          printf row, prompt, p, sprintf("%.1f", 1e3 / ms), sprintf("%.2f", ms / w),
                 sprintf("%.1f", prompt_ms), peak }'
    done
  done
  echo "tokens/s: after the first token. ratio: time per token relative to weft with weights of the same" \
    "precision. prompt_ms: time for the prompt and one token."
fi

if [[ $parts = *finetune* ]]; then
  cat /usr/share/common-licenses/* >"$work/text"
  "$python" "$peers/finetune_peft.py" adapters "$model" 8 "$work/adapters" >"$work/log" 2>&1 ||
    fail "PEFT: $(tail -n 1 "$work/log")"
  row='%-8s %-19s %9s %9s %9s %12s\n'
  printf "$row" weights program step_ms ratio peak_mib loss_error
  for weights in adapters all; do
    adapters=$work/adapters programs=(weft torch weft-bf16 torch-bf16)
    [ $weights = adapters ] && programs+=(torch-bf16-weights weft-recompute torch-recompute) ||
      adapters=-
    rm -f -- "$work"/*.runs
    for ((round = 0; round < rounds; ++round)); do
      for program in "${programs[@]}"; do
        finetune "$program" "$adapters" >"$work/$program.output" 2>"$work/errors" ||
          fail "$program: $(tail -n 1 "$work/errors")"
        tail -n 1 "$work/$program.output" >>"$work/$program.runs"
      done
    done
    for program in "${programs[@]}"; do
      base=weft
      [[ $program != *-bf16* ]] || base="weft-bf16"
      [[ $program != *-recompute ]] || base="weft-recompute"
      # The largest relative difference between a loss and torch's in full precision.
      error=$(paste "$work/$program.output" "$work/torch.output" | head -n "$steps" |
        awk '{ d = ($1 - $2) / $2; if (d < 0) d = -d; if (d > most) most = d }
             END { printf "%.1e", most }')
      awk -v of=$weights -v p="$program" -v row="$row" -v error="$error" \
        -v ms="$(cut -d' ' -f1 "$work/$program.runs" | median)" \
        -v w="$(cut -d' ' -f1 "$work/$base.runs" | median)" \
        -v peak="$(cut -d' ' -f3 "$work/$program.runs" | median)" 'BEGIN {
          printf row, of, p, sprintf("%.0f", ms), sprintf("%.2f", ms / w), sprintf("%.0f", peak),
                 error }'
      [[ $program != weft && $program != weft-recompute ]] ||
        awk -v e="$error" 'BEGIN { exit e > 1e-5 }' ||
        fail "expected losses within 1e-5 of torch's, got a difference of $error"
    done
  done
  echo "ratio: time relative to weft in the same precision. loss_error: largest relative difference" \
    "between the losses of $steps steps and torch's in full precision. bf16: inputs of products in bf16," \
    "as in torch.autocast. bf16-weights: model loaded in bf16."
fi
