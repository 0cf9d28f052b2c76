#!/usr/bin/env bash
# docs.sh [--self-test]: builds the guide and the reference in build/docs/index.html. Fails if a public
# declaration is undocumented or takes tensors without documented shapes, if an operation or a layer
# lacks its formula, shapes, errors, source or example, if an example does not compile, and if a link is
# broken. With --self-test, checks that each of these mistakes is found.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
docs=$repository/tests/docs

# Prints Doxygen's configuration: the file in docs/, followed by the settings that depend on the tree.
configuration() {
  local work=$1 out=$2
  cat "$docs/Doxyfile"
  cat <<END
INPUT = $work/pages
STRIP_FROM_PATH = $work/pages/weft $work/pages
STRIP_FROM_INC_PATH = $work/pages
USE_MDFILE_AS_MAINPAGE = $work/pages/mainpage.md
OUTPUT_DIRECTORY = $work
HTML_OUTPUT = $out
HTML_HEADER = $work/header.html
LAYOUT_FILE = $work/layout.xml
HTML_EXTRA_STYLESHEET = $awesome/doxygen-awesome.css $awesome/doxygen-awesome-sidebar-only.css \
  $awesome/doxygen-awesome-sidebar-only-darkmode-toggle.css $docs/style.css
HTML_EXTRA_FILES = $awesome/doxygen-awesome-darkmode-toggle.js \
  $awesome/doxygen-awesome-fragment-copy-button.js
END
}

# The files of MathJax that formulas need.
copy_mathjax() {
  local from=/usr/share/javascript/mathjax part
  mkdir -p "$1"
  for part in MathJax.js extensions jax/element jax/input/TeX jax/output/SVG/{*.js,autoload} \
    jax/output/SVG/fonts/TeX; do
    (cd $from && cp -r --parents $part "$1")
  done
}

# Builds the pages of a tree in a folder, checks them, and prints the errors.
build_pages() {
  local tree=$1 out=$2 work=$2_work internal compiler failed=0
  local -a headers pages
  internal=$(sed -n 's/^set(weft_internal_folders "\(.*\)")/\1/p' \
    "$tree/cmake/public_headers.cmake")
  mapfile -t headers < <(cd "$tree" && find autograd layers train -name '*.hpp' |
    grep -Ev "$internal" | sort)
  mapfile -t pages < <(cd "$tree" && find -- *.md autograd layers train examples tests \
    -name '*.md' | sort)
  rm -rf "$out" "$work"
  mkdir -p "$out" "$work/include"
  ln -s "$tree" "$work/include/weft"

  {
    printf '#include <weft/%s>\n' "${headers[@]}"
    printf '#include "%s"\n' "$docs/examples.hpp"
    perl "$docs/headers.pl" --examples "$tree" "${headers[@]}"
    echo "}  // namespace examples"
  } >"$work/examples.cpp"
  g++ -std=c++20 -fsyntax-only -isystem "$work/include" "$work/examples.cpp" 2>"$work/errors" &
  compiler=$!

  perl "$docs/headers.pl" "$tree" "$work/pages" "${headers[@]}" || failed=1
  perl "$docs/pages.pl" "$tree" "$work/pages" "$out" "${pages[@]}" "${headers[@]}" || failed=1
  copy_mathjax "$out/mathjax"
  doxygen -w html "$work"/{header.html,footer.html,style.css}
  sed -i "/<\/head>/e cat $docs/head.html" "$work/header.html"
  doxygen -l "$work/layout.xml"
  perl -0pi "$docs/layout.pl" "$work/layout.xml"
  configuration "$work" "$out" >"$work/configuration"
  doxygen "$work/configuration" >"$work/log" 2>"$work/warnings" || failed=1
  ! sed "s|^$work/pages/\(weft/\)\{0,1\}||" "$work/warnings" | sort -u | grep . || failed=1
  perl "$docs/check.pl" "$work/xml" "$out" || failed=1

  wait $compiler || failed=1
  ! sed "s|$work/include/weft/||" "$work/errors" | grep -A 3 error || failed=1
  return $failed
}

# plant FILE SED: changes a file in the copy of the tree.
plant() {
  sed "$2" "$repository/$1" >"$test_tree/new"
  mv -f "$test_tree/new" "$test_tree/$1"
}

# Plants mistakes in a copy of the tree, and checks that each is reported.
self_test() {
  local expected
  test_tree=$build/docs_test/tree
  rm -rf "$test_tree"
  mkdir -p "$test_tree"
  cp -rs "$repository"/{*.md,LICENSE,autograd,layers,train,examples,tests,cmake} "$test_tree"
  plant autograd/tensor.hpp 's|^ public:|&\n  Index planted_member() const;|'
  plant autograd/ops/softmax.hpp \
    's|^}  // namespace|// Planted.\ntemplate <class T>\nVar<T> planted(Var<T> x, Index axis);\n&|'
  plant layers/linear.hpp 's|linear(x, Activation::relu);|linear(x, Activation::planted);|'
  plant README.md '$a[planted](examples/planted.md) and [planted](#planted)'
  printf '// Planted.\nnamespace weft {\n}  // namespace weft\n' >"$test_tree/layers/planted.hpp"
  ! build_pages "$test_tree" "$build/docs_test/docs" >"$build/docs_test/messages" 2>&1 ||
    fail "expected errors about the planted mistakes, got none"
  while read -r expected; do
    grep -q -- "$expected" "$build/docs_test/messages" ||
      fail "expected \"$expected\", got the messages of $build/docs_test/messages"
    echo "found: $expected"
  done <<'END'
Member planted_member() const (function) of class weft::Tensor is not documented
planted: expected the shapes of tensors
planted: expected shapes
planted: expected formula
planted: expected errors
planted: expected source
planted: expected example
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
echo "$build/docs/index.html, built in $SECONDS s"
