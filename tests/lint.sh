#!/usr/bin/env bash
# lint.sh: runs clang-tidy on the sources of the library and the programs, shellcheck on the scripts,
# codespell on all hand-written text, and a search for awkward phrases in the comments, messages and
# Markdown of the library and the programs. A source that has passed clang-tidy is checked again only
# after it, a header that it includes, or .clang-tidy has changed.
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

log "phrases"
mapfile -t prose < <(printf '%s\n' "${texts[@]}" | grep -v ^tests/)
# A space, or a line break with the start of the next comment line.
space='(?: |\s*\n *(?://|#)? *)'
awkward=0
while IFS= read -r line; do
  expression=${line%% => *}
  expression=".*${expression// /$space}.*"
  found=$(grep -Pzoa --with-filename "$expression" "${prose[@]}" | tr '\0' '\n') || continue
  printf '%s\nexpected %s\n\n' "$found" "${line#* => }"
  awkward=1
done <<'END'
\n(?!\h*//).*\n\h*//\hOf\b => a comment that starts with its subject: "Options of a block"
\n(?!\h*//).*\n\h*//\hThe same (for|of|as|with|from|in)\b => a comment that makes sense alone
\bThrows? as\b => "Throws the same exceptions as"
\bwhen (not )?given\b => "if set", "if not set"
\bwhen there (is|are) no(ne)?\b => "if there is no"
\b(models?|folders?) of (Hugging Face|transformers)\b(?! models) => "a Hugging Face model"
\bgot (another|others|them)\b => the value that was found
\btrainings\b => "training runs"
\bbeside (an?|the|its?|each|other|those|them)\b => "next to", "along with", "in addition to", "compared with"
, also (when|if)\b => "even if"
\bthat (is|are) there\b => "existing"
\b(\d+|first|lowest) … (\d+|n|last|highest)\b => "0 to 7" or "[0, n)"
END
[ "$awkward" = 0 ] || fail "awkward phrases (see above)"
echo "${#prose[@]} files"

log "clang-tidy"
build=$build/lint
export CC=clang CXX=clang++
# Compile the sources, without optimization, so that the build records which have passed.
cmake_options=(-DCMAKE_BUILD_TYPE=None -DWEFT_TESTS=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  "-DCMAKE_CXX_FLAGS=-O0 -w -DCHECKS=$(cksum <.clang-tidy | cut -d' ' -f1)"
  "-DCMAKE_CXX_CLANG_TIDY=clang-tidy;--quiet;--warnings-as-errors=*")
build_targets all -- -k 0
