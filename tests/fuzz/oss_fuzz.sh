#!/usr/bin/env bash
# oss_fuzz.sh: builds the fuzz targets as OSS-Fuzz (https://google.github.io/oss-fuzz/) expects of a
# project's build.sh: with the compilers CC and CXX, their options CFLAGS and CXXFLAGS, and
# LIB_FUZZING_ENGINE. Writes to the folder OUT, for each target, the program, its seeds
# (TARGET_seed_corpus.zip) and its dictionary (TARGET.dict); and for all of them, the data that they read
# and the shared libraries that a bare system lacks. For the sanitizers `address` and `undefined`.
#
# If LIB_FUZZING_ENGINE is not set, uses libFuzzer with both sanitizers and build/oss-fuzz/out, and then
# runs each target on its seeds.
source "$(dirname -- "${BASH_SOURCE[0]}")/../sanitizers.sh"
install_packages "${build_packages[@]}" catch2 unzip zip
build=$build/oss-fuzz
try=${LIB_FUZZING_ENGINE:-yes}
if [ "$try" = yes ]; then
  use_clang
  export CXXFLAGS="-O1 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
  export CFLAGS=$CXXFLAGS LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=$build/out
fi
targets=(load_weights read_models read_files)
# shellcheck disable=SC2016 # $ORIGIN is the folder of a program when it runs.
cmake_options=(-DWEFT_FUZZ=ON -DWEFT_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DCMAKE_BUILD_TYPE=None
  -DWEFT_EXAMPLES=OFF -DWEFT_INSTALL=OFF -DWEFT_ONEDNN=OFF -DWEFT_MPI=OFF -DWEFT_NATIVE=OFF
  -DCMAKE_BUILD_RPATH='$ORIGIN/lib' -DCMAKE_EXE_LINKER_FLAGS='-Wl,--disable-new-dtags')
build_targets "${targets[@]/#/fuzz_}" fuzz_write_seeds
cd "$build"
source "$repository/tests/fuzz/seeds.sh"

log "Writing to $OUT"
mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
  cp "tests/fuzz_$target" "$OUT"
  cp "$repository/tests/fuzz/$target.dict" "$OUT/fuzz_$target.dict"
  printf '[libfuzzer]\nmax_len = 80000\ntimeout = 10\n' >"$OUT/fuzz_$target.options"
  rm -f "$OUT/fuzz_${target}_seed_corpus.zip"
  zip -qrj "$OUT/fuzz_${target}_seed_corpus.zip" "seeds/$target"
  ldd "tests/fuzz_$target" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s)\.so' | xargs cp -Lt "$OUT/lib"
done
cp -r tests/data "$OUT"
ls "$OUT"

[ "$try" = yes ] || exit 0
export ASAN_OPTIONS=detect_leaks=0 OMP_NUM_THREADS=1
for target in "${targets[@]}"; do
  log "Running fuzz_$target on its seeds"
  "$OUT/fuzz_$target" -runs=0 -dict="$OUT/fuzz_$target.dict" "seeds/$target" 2>"$target.log" ||
    fail "fuzz_$target failed: $(tail -n 20 "$target.log")"
  tail -n 1 "$target.log"
done
