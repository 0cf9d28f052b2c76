#!/usr/bin/env bash
# docs.sh [--self-test]: builds guide and reference in build/docs/html/index.html. Fails for an
# undocumented public declaration, for one of tensors without their shapes, for an operation or a
# layer without formula, shapes, errors, source or example, for an example that does not compile, and
# for a link that leads nowhere. With --self-test, checks that it does so.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
docs=$repository/tests/docs

# Doxygen's configuration: the file of this folder, and what depends on the tree.
configuration() {
  cat "$docs/Doxyfile"
  cat <<END
INPUT = $1/source
STRIP_FROM_PATH = $1/source/weft $1/source
STRIP_FROM_INC_PATH = $1/source
USE_MDFILE_AS_MAINPAGE = $1/source/mainpage.md
OUTPUT_DIRECTORY = $1
HTML_HEADER = $1/header.html
LAYOUT_FILE = $1/layout.xml
HTML_EXTRA_STYLESHEET = $awesome/doxygen-awesome.css $awesome/doxygen-awesome-sidebar-only.css \
  $awesome/doxygen-awesome-sidebar-only-darkmode-toggle.css $docs/style.css
HTML_EXTRA_FILES = $awesome/doxygen-awesome-darkmode-toggle.js \
  $awesome/doxygen-awesome-fragment-copy-button.js
END
}

# Builds the pages of a tree in a folder and checks them; prints what is wrong.
build_pages() {
  local tree=$1 out=$2 internal failed=0
  local -a headers pages
  internal=$(sed -n 's/^set(weft_internal_folders "\(.*\)")/\1/p' "$tree/cmake/public_headers.cmake")
  mapfile -t headers < <(cd "$tree" && find autograd layers train -name '*.hpp' |
    grep -Ev "$internal" | sort)
  mapfile -t pages < <(cd "$tree" && find README.md autograd layers train examples tests cmake \
    -name '*.md' | sort)
  rm -rf "$out"
  mkdir -p "$out/include" "$out/html"
  ln -s "$tree" "$out/include/weft"

  perl "$docs/headers.pl" "$tree" "$out/source" "${headers[@]}" || failed=1
  perl "$docs/pages.pl" "$tree" "$out" "${pages[@]}" || failed=1
  {
    printf '#include <weft/%s>\n' "${headers[@]}"
    printf '#include "%s"\n' "$docs/examples.hpp"
    perl "$docs/headers.pl" --examples "$tree" "${headers[@]}"
    echo "}  // namespace examples"
  } >"$out/examples.cpp"
  g++ -std=c++20 -fsyntax-only -isystem "$out/include" "$out/examples.cpp" 2>"$out/errors" &
  local compiler=$!
  mkdir -p "$out/html/mathjax/jax/output"
  (cd /usr/share/javascript/mathjax && cp -r MathJax.js extensions "$out/html/mathjax" &&
    cp -r jax/input jax/element "$out/html/mathjax/jax" &&
    cp -r jax/output/SVG "$out/html/mathjax/jax/output")
  (cd "$out" && doxygen -w html header.html footer.html style.css <(configuration "$out") &&
    sed -i '/<\/head>/e cat '"$docs/head.html" header.html)
  # What a class is comes before its members; the groups of headers and the pages come first.
  doxygen -l "$out/layout.xml"
  perl -0pi -e 's/<class>\s*<briefdescription[^>]*>(.*?)<detaileddescription[^>]*>/<class><detaileddescription title="Description"\/>$1/s;
    s/(<group>.*?)<detaileddescription[^>]*>/$1/s;
    s/<nestedgroups visible="yes" title=""/<nestedgroups visible="yes" title="Groups"/;
    s/<tab type="modules" visible="yes" title="" intro=""/<tab type="modules" visible="yes" title="Reference" intro="What weft declares, by what it is for."/;
    s/<tab type="pages" visible="yes" title=""/<tab type="pages" visible="yes" title="Pages"/;
    s/(<tab type="(?:namespaces|concepts|files|examples)" visible=)"yes"/$1"no"/g' "$out/layout.xml"
  configuration "$out" >"$out/configuration"
  doxygen "$out/configuration" >"$out/log" 2>"$out/warnings" || failed=1
  sed "s|^$out/source/weft/||; s|^$out/source/||" "$out/warnings" | sort -u | grep . && failed=1
  perl "$docs/check.pl" "$out/xml" "$out/html" || failed=1
  wait $compiler || failed=1
  sed "s|$out/include/weft/||" "$out/errors" | grep -A 3 error && failed=1
  return $failed
}

# plant FILE SED: changes a file of the tree that links to the repository's.
plant() {
  local text
  text=$(sed "$2" "$repository/$1" 2>/dev/null || sed -n "$2" /dev/null)
  rm -f "$test_tree/$1"
  printf '%s\n' "$text" >"$test_tree/$1"
}

# Plants mistakes in a copy of the tree, and checks that each is complained about.
self_test() {
  local expected
  test_tree=$build/docs_test/tree
  rm -rf "$test_tree"
  mkdir -p "$test_tree"
  cp -rs "$repository"/{README.md,LICENSE,autograd,layers,train,examples,tests,cmake} "$test_tree"
  plant autograd/tensor.hpp 's|^ public:|&\n  Index planted_member() const;|'
  plant autograd/ops/softmax.hpp 's|^}  // namespace weft|// Planted.\ntemplate <class T>\nVar<T> planted(const Var<T>\& x, Index axis);\n&|'
  plant layers/linear.hpp 's|linear(x, Activation::relu);|linear(x, Activation::planted);|'
  plant README.md '$a[planted](examples/planted.md) and [planted](#planted)'
  printf '// Planted.\nnamespace weft {\n}  // namespace weft\n' >"$test_tree/layers/planted.hpp"
  if build_pages "$test_tree" "$build/docs_test/docs" >"$build/docs_test/messages" 2>&1; then
    fail "expected errors of the planted mistakes, got none"
  fi
  while read -r expected; do
    grep -q -- "$expected" "$build/docs_test/messages" ||
      fail "expected \"$expected\", got the messages of $build/docs_test/messages"
    echo "found: $expected"
  done <<'END'
Member planted_member() const (function) of class weft::Tensor is not documented
planted: expected the shapes of tensors
planted: expected a formula
planted: expected an example
planted: expected a paper or a counterpart
planted: expected what it throws
linear.hpp:[0-9]*:[0-9]*: error: ‘planted’ is not a member
no file examples/planted.md
no heading #planted
layers/planted.hpp is in no group
END
}

awesome=/usr/share/doxygen-awesome-css
install_packages g++ doxygen doxygen-awesome-css libjs-mathjax
if [ "${1:-}" = --self-test ]; then
  log "Looking for planted mistakes"
  self_test
  exit
fi
log "Building the guide and the reference"
SECONDS=0
build_pages "$repository" "$build/docs" || fail "the documentation is not complete (see above)"
echo "$build/docs/html/index.html, built in $SECONDS s"
