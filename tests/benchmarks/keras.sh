#!/usr/bin/env bash
# keras.sh MODEL [LENGTH [VOCABULARY]]: times the predictions of a model of Keras, with weft and with Keras
# on its backends in turn: the milliseconds to load it and to predict one sequence, and the medians for one
# sequence and for a batch of 32. Inputs without a length get LENGTH steps (50); VOCABULARY is the number of
# tokens of a model of token ids.
#   ROUNDS=5 SECONDS_EACH=2 THREADS=<processors> PYTHON=python3 BACKENDS="torch jax tensorflow"
source "$(dirname -- "${BASH_SOURCE[0]}")/settings.sh"
python=${PYTHON:-python3}
[ $# -ge 1 ] || fail "expected a model"
model=$1 length=${2:-50} vocabulary=${3:-0}

install_packages "${build_packages[@]}" catch2
build_targets weft_benchmark
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
programs=(weft)
for backend in ${BACKENDS:-torch jax tensorflow}; do
  if KERAS_BACKEND=$backend "$python" -c "import keras, $backend" 2>/dev/null; then
    programs+=("$backend")
  else
    echo "$backend: not measured, $python has no modules keras and $backend"
  fi
done

log "Measuring on $threads threads, $rounds rounds of ${seconds}s each"
for ((round = 0; round < rounds; ++round)); do
  for program in "${programs[@]}"; do
    if [ "$program" = weft ]; then
      "$build/tests/weft_benchmark" keras "$model" "$length" "$vocabulary" "$threads" "$seconds"
    else
      KERAS_BACKEND=$program OMP_NUM_THREADS=$threads TF_NUM_INTRAOP_THREADS=$threads \
        "$python" "$repository/tests/benchmarks/peers/keras_predict.py" \
        "$model" "$length" "$vocabulary" "$seconds" 2>"$work/errors" ||
        fail "Keras on $program: $(tail -n 1 "$work/errors")"
    fi >>"$work/$program"
  done
done
row='%-12s %10s %10s %10s %12s\n'
printf "$row" program first_ms one_ms many_ms imports_ms
for program in "${programs[@]}"; do
  columns=()
  for column in 1 2 3 4; do columns+=("$(cut -d' ' -f$column "$work/$program" | median)"); done
  printf "$row" "$program" "${columns[@]}"
done
