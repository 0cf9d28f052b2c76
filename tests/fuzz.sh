#!/usr/bin/env bash
# fuzz.sh [SECONDS]: reads random files for SECONDS (1800), with three fuzz targets at the same time:
#   fuzz_load_weights    weights in HDF5 files
#   fuzz_read_models     Hugging Face models: safetensors and their index, config.json,
#                        generation_config.json, adapters, tokenizer.json, tokenizer_config.json, chat
#                        templates; Keras models and their configurations
#   fuzz_read_files      CSV, vocabularies and merges, checkpoints to resume from, metrics.csv, run.json
# The random files are variations of small files of every format and layout. The targets run under the
# address and undefined-behaviour sanitizers, with limits on an allocation (64 MiB) and on the time for
# a file (10 s). New inputs are kept in build/fuzz/corpus. An input that fails is in build/fuzz/.
seconds=${1:-1800}
source "$(dirname -- "${BASH_SOURCE[0]}")/sanitizers.sh"

install_packages "${build_packages[@]}" catch2 unzip
use_clang
build=$build/fuzz
targets=(load_weights read_models read_files)
cmake_options=(-DWEFT_FUZZ=ON -DWEFT_EXAMPLES=OFF -DWEFT_INSTALL=OFF -DWEFT_ONEDNN=OFF)
build_targets "${targets[@]/#/fuzz_}" fuzz_write_seeds

golden=$repository/tests/golden
cd "$build"
rm -rf seeds made
for target in "${targets[@]}"; do mkdir -p "corpus/$target" "seeds/$target"; done
mkdir -p made/tokenizers
tests/fuzz_write_seeds made
# seed TARGET KIND FILE...: adds files as seeds. The first byte of a seed is the kind of the file.
seed() {
  local target=$1 kind=$2 file
  shift 2
  for file in "$@"; do
    { printf '%s' "$kind" && cat -- "$file"; } >"seeds/$target/$kind$(md5sum <"$file" | cut -c1-16)"
  done
}
# seed_pair TARGET KIND FIRST SECOND: adds a seed of two files with a NUL between them.
seed_pair() {
  { cat -- "$3" && printf '\0' && cat -- "$4"; } >made/pair
  seed "$1" "$2" made/pair
}
mapfile -t files < <(find "$golden" made -name '*.h5' -size -80k)
seed load_weights '' "${files[@]}"

mapfile -t files < <(find "$golden" -name '*.safetensors' -size -80k)
seed read_models s "${files[@]}"
seed read_models i "$golden"/language_models/*/model.safetensors.index.json
seed read_models c "$golden"/language_models/*/config.json
echo '{"bos_token_id": 1, "eos_token_id": [2, 3]}' >made/generation_config.json
seed read_models g made/generation_config.json
seed_pair read_models a "$golden"/language_models/llama_lora/adapter_{config.json,model.safetensors}
for file in "$golden"/tokenizers/*.json; do
  # The first entry of the file is a tokenizer.json as a string, on a separate line.
  sed -n '2s/^"tokenizer": "\(.*\)",$/\1/p' "$file" | sed 's/\\"/"/g; s/\\\\/\\/g' \
    >"made/tokenizers/$(basename "$file")"
done
seed read_models t made/tokenizers/*.json
sed -n 's/^  "[a-z_]*": \("..*"\),\{0,1\}$/\1/p' "$golden/chat_templates.json" | head -n 18 >made/templates
sed 's/^"\(.*\)"$/\1/; s/\\"/"/g' made/templates | split -l 1 - made/template-
sed 's/.*/{"bos_token": "<s>", "eos_token": {"content": "<\/s>"}, "chat_template": &}/' made/templates |
  split -l 1 - made/configuration-
seed read_models j made/template-*
seed read_models o made/configuration-*

mkdir -p made/keras made/configs
unzip -qo "$golden/keras_models/models.zip" -d made/keras
for file in made/keras/*.keras; do unzip -p "$file" config.json >"made/configs/$(basename "$file")"; done
seed read_models n made/configs/*
mapfile -t files < <(find made/keras -name 'model_*' -size -40k)
seed read_models k "${files[@]}"

seed read_files c "$repository"/examples/data/*.csv
printf 'x\ty\n"a, b"\t-1.5e3\n\n"c ""d"""\t2\n' >made/table.tsv
seed read_files c made/table.tsv
seed read_files w "$golden"/word_piece_vocab.txt
seed_pair read_files b made/vocab.json made/merges.txt
printf 'a\nb\n' >made/special
printf '\nplain\na\n\\n\n\\\\\n' >made/plain
seed read_files v made/special made/plain
seed read_files m made/training/metrics.csv
seed read_files r made/training/run.json
seed read_files l made/training/*.h5

export WEFT_KERAS=$repository/examples/data/sines.keras WEFT_TOKENIZERS=$build/made/tokenizers WEFT_MODELS=$golden/language_models
# The memory that the HDF5 library keeps until exit is not a leak.
export ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1 OMP_NUM_THREADS=1
# The targets write inputs to files, in memory if there is a file system for it.
TMPDIR=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
export TMPDIR
trap 'rm -rf -- "$TMPDIR"' EXIT

# Runs a target and writes its findings to fuzz_TARGET.log.
fuzz() {
  "tests/fuzz_$1" -fork=1 -max_total_time="$seconds" -max_len=80000 -timeout=10 \
    -malloc_limit_mb=64 -rss_limit_mb=2048 -entropic=0 "corpus/$1" "seeds/$1" >"fuzz_$1.log" 2>&1
}
log "Fuzzing for $seconds seconds"
declare -A jobs
for target in "${targets[@]}"; do
  echo "fuzz_$target, from $(ls "seeds/$target" | wc -l) files"
  fuzz "$target" &
  jobs[$target]=$!
done
for target in "${targets[@]}"; do
  log "fuzz_$target"
  wait "${jobs[$target]}" || {
    grep -E "ERROR|SUMMARY|Test unit written" "fuzz_$target.log" || tail -n 20 "fuzz_$target.log"
    failed=yes
  }
  grep oom/timeout/crash "fuzz_$target.log" | tail -n 1
done
[ -z "${failed:-}" ] || fail "a target failed: see $build/fuzz_*.log"
