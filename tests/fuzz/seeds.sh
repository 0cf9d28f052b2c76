# Sourced by fuzz.sh and oss_fuzz.sh in a build folder: writes the fuzz targets' first inputs to
# seeds/TARGET/, and the files that fuzz_read_models combines them with to tests/data/.
golden=${repository:?}/tests/golden
rm -rf seeds made tests/data
mkdir -p seeds/{load_weights,read_models,read_files} made/tokenizers tests/data
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

cp -r made/tokenizers "$golden/language_models" "$repository/examples/data/sines.keras" tests/data
