#!/usr/bin/env bash
# lint.sh: runs clang-tidy on the sources of the library and the programs, shellcheck on the scripts,
# and codespell on all hand-written text. A source that has passed is checked again only after it, a
# header that it includes, or .clang-tidy has changed.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
cd "$repository"

install_packages "${build_packages[@]}" clang clang-tidy libomp-dev shellcheck codespell

log "shellcheck"
mapfile -t scripts < <(find .ci examples tests cmake -name '*.sh' -o -path .ci/run)
shellcheck --severity=warning "${scripts[@]}"
echo "${#scripts[@]} scripts"

log "codespell"
mapfile -t texts < <(find .github autograd cmake examples layers tests train ./*.md \
  ! -path 'tests/golden/*/*' ! -name word_piece_vocab.txt \
  -name '*.[ch]pp' -o -name '*.md' -o -name '*.py' -o -name '*.sh' -o -name '*.txt' -o -name '*.yml' \
  -o -name '*.cmake' -o -name '*.pl' -o -name '*.js' -o -name '*.css')
# Words to ignore: names of variables, and syllables in tests.
codespell --ignore-words-list nd,te,nin,ifset,thre "${texts[@]}"
echo "${#texts[@]} files"

log "clang-tidy"
build=$build/lint
export CC=clang CXX=clang++
# Compile the sources, without optimization, so that the build records which have passed.
cmake_options=(-DCMAKE_BUILD_TYPE=None -DWEFT_TESTS=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  "-DCMAKE_CXX_FLAGS=-O0 -w -DCHECKS=$(cksum <.clang-tidy | cut -d' ' -f1)"
  "-DCMAKE_CXX_CLANG_TIDY=clang-tidy;--quiet;--warnings-as-errors=*")
build_targets all -- -k 0
