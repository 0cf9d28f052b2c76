#!/usr/bin/env bash
# generate.sh: times greedy generation of 64 tokens by models with random weights, in weft and in the
# installed peers, in turn. Prints a table and writes it to build/benchmarks_generate.csv. The models are
# cpu (4 layers of 128, vocabulary of 65) and gpt2 (12 layers of 768, vocabulary of 50257), with 1 and 8
# prompts of 16 and 512 tokens. Run it on an otherwise idle machine.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> PYTHON=python3 MODELS="cpu gpt2"
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
python=${PYTHON:-python3}
peers=$repository/tests/benchmarks/peers
read -r -a models <<<"${MODELS:-cpu gpt2}"
for model in "${models[@]}"; do
  [[ $model =~ ^(cpu|gpt2)$ ]] || fail "MODELS: expected cpu or gpt2, got '$model'"
done
new_tokens=64

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark
weft=$build/tests/weft_benchmark

sizes_of() {
  case $1 in
    cpu) echo 4 4 128 65 1024 ;;
    gpt2) echo 12 12 768 50257 1024 ;;
  esac
}
# Prints "median_ms tokens prompt_ms peak_mib"; weft also prints "prompt_flops step_bytes".
run_program() {
  local program=$1 model=$2 batch=$3 prompt=$4
  local arguments
  read -r -a arguments <<<"$(sizes_of "$model") $batch $prompt $new_tokens"
  case $program in
    weft) "$weft" generate "${arguments[@]}" full "$threads" "$seconds" ;;
    weft-bf16) "$weft" generate "${arguments[@]}" bf16 "$threads" "$seconds" ;;
    transformers) "$python" "$peers/generate_transformers.py" "${arguments[@]}" "$threads" "$seconds" ;;
    transformers-bf16) "$python" "$peers/generate_transformers.py" "${arguments[@]}" "$threads" "$seconds" bfloat16 ;;
    ctranslate2) "$python" "$peers/generate_ctranslate2.py" "${arguments[@]}" "$threads" "$seconds" ;;
  esac
}

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
programs=(weft weft-bf16)
if "$python" -c 'import torch, transformers' 2>/dev/null; then
  programs+=(transformers transformers-bf16)
  if "$python" -c 'import ctranslate2' 2>/dev/null; then
    programs+=(ctranslate2)
  else
    echo "CTranslate2: not measured, $python has no module ctranslate2"
  fi
else
  echo "transformers: not measured, $python has no modules torch and transformers"
fi

log "Measuring on $threads threads, $rounds rounds of at least ${seconds}s each"
lscpu | grep -E '^(Model name|L2|L3)' || true
csv=$build/benchmarks_generate.csv
echo "model,batch,prompt,program,tokens_per_s,ratio_to_weft,of_reading_rate,prompt_ms,prompt_utilisation,peak_mib" >"$csv"
row='%-5s %5s %6s %-18s %9s %6s %8s %10s %11s %9s\n'
printf "$row" model batch prompt program tokens/s ratio reading prompt_ms utilisation peak_mib
for model in "${models[@]}"; do
  for batch in 1 8; do
    for prompt in 16 512; do
      rm -f -- "$work"/*.runs "$work"/limits
      failed=()
      for ((round = 0; round < rounds; ++round)); do
        "$weft" limits full "$threads" 0.5 >>"$work/limits"
        for program in "${programs[@]}"; do
          [[ " ${failed[*]-} " != *" $program "* ]] || continue
          if ! run_program "$program" "$model" "$batch" "$prompt" >>"$work/$program.runs" \
            2>"$work/errors"; then
            failed+=("$program")
            [[ $program != weft* ]] || fail "$model: $(tail -n 1 "$work/errors")"
          fi
        done
      done
      flops=$(cut -d' ' -f1 "$work/limits" | median)
      reading=$(cut -d' ' -f3 "$work/limits" | median)
      weft_step=$(awk -v n="$new_tokens" '{ print ($1 - $3) / (n - 1) }' "$work/weft.runs" | median)
      for program in "${programs[@]}"; do
        if [[ " ${failed[*]-} " = *" $program "* ]]; then
          printf "$row" "$model" "$batch" "$prompt" "$program" failed - - - - -
          continue
        fi
        [[ $program = *bf16 ]] && half=-bf16 || half=
        step=$(awk -v n="$new_tokens" '{ print ($1 - $3) / (n - 1) }' "$work/$program.runs" | median)
        awk -v model="$model" -v batch="$batch" -v prompt="$prompt" -v program="$program" \
          -v step="$step" -v weft_step="$weft_step" -v flops="$flops" -v reading="$reading" \
          -v prompt_ms="$(cut -d' ' -f3 "$work/$program.runs" | median)" \
          -v peak="$(cut -d' ' -f4 "$work/$program.runs" | median)" \
          -v prompt_flops="$(awk '{ print $5; exit }' "$work/weft.runs")" \
          -v bytes="$(awk '{ print $6; exit }' "$work/weft$half.runs")" -v csv="$csv" -v row="$row" 'BEGIN {
            rate = bytes / step * 1e-6 / reading
            used = prompt_flops / prompt_ms * 1e-6 / flops
            printf row, model, batch, prompt, program, sprintf("%.4g", batch / step * 1e3),
                   sprintf("%.2f", step / weft_step), sprintf("%.0f %%", 100 * rate),
                   sprintf("%.4g", prompt_ms), sprintf("%.0f %%", 100 * used), sprintf("%.0f", peak)
            printf "%s,%d,%d,%s,%.5g,%.3f,%.3f,%.5g,%.3f,%.0f\n", model, batch, prompt, program,
                   batch / step * 1e3, step / weft_step, rate, prompt_ms, used, peak >>csv
          }'
      done
    done
  done
done
echo "tokens/s: for all prompts together, after the first token. ratio: time per token relative to weft." \
  "reading: bytes of weights, keys and values read per token, relative to the memory bandwidth in the" \
  "same run (the weights of cpu fit into the caches). prompt_ms: time for the prompts and one token each." \
  "utilisation: FLOP rate of the prompts relative to a 2048³ product."
echo "wrote $csv"
