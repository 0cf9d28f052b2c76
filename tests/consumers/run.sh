#!/usr/bin/env bash
# run.sh [--build DIRECTORY] [WAY …]: builds and runs a program outside the source tree that uses weft in
# each WAY: installed-static, installed-shared, pkg-config-static, pkg-config-shared, subproject, fetched
# (by default, all of these) or conan. Installs weft if a way needs it. With --build, installs the static
# weft of an existing build.
#   PYTHON=python3, with the package conan, for the way conan
source "$(dirname -- "${BASH_SOURCE[0]}")/../../cmake/build.sh"
consumers=$repository/tests/consumers
built=
if [ "${1:-}" = --build ]; then
  [ -d "${2:-}" ] || fail "--build: expected a build directory, got '${2:-}'"
  built=$2
  shift 2
fi
ways=("$@")
[ $# -gt 0 ] || ways=({installed,pkg-config}-{static,shared} subproject fetched)
[ -n "$built" ] || install_packages "${build_packages[@]}" pkg-config git
generator=()
! command -v ninja >/dev/null || generator=(-G Ninja)

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }; }

# Installs weft as a static or shared library into $work/static or $work/shared, once.
install_weft() {
  local build=$work/build-$1 shared=OFF
  [ ! -d "$work/$1" ] || return 0
  if [ "$1" = static ] && [ -n "$built" ]; then
    build=$built
  else
    [ "$1" = static ] || shared=ON
    quietly cmake -S "$repository" -B "$build" "${generator[@]}" -DBUILD_SHARED_LIBS=$shared \
      -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF
    quietly cmake --build "$build" --parallel "$(nproc)"
  fi
  quietly cmake --install "$build" --prefix "$work/$1"
  check_library "$work/$1"
}

# Checks that an installed weft does not expose Eigen's functions, internal headers or machine options.
check_library() {
  local library shown
  library=$(find "$1" -name 'libweft.*' -type f | head -n 1)
  shown=$(nm --demangle --defined-only "$library" 2>/dev/null | grep -E ' [TWVBDR] ' || true)
  ! grep -E '[ <,(]Eigen::' <<<"$shown" || fail "$library defines functions of Eigen"
  if [[ $library = *.so* ]]; then
    shown=$(nm --demangle --dynamic --defined-only "$library")
    grep -q 'weft::softmax<float>' <<<"$shown" || fail "$library does not export weft::softmax"
    ! grep -E ' weft::(matrix|blocked)_product<| [TW] weft::(Pool|MaskView|hdf5)::' <<<"$shown" ||
      fail "$library exports internal functions"
  fi
  ! find "$1" -name '*.hpp' | grep -E '/(internal|kernels|runtime)/' ||
    fail "internal headers were installed"
  ! grep -rE -- '-march|-ffast-math|-fno-' "$1"/lib*/cmake "$1"/lib*/pkgconfig ||
    fail "programs that use weft inherit its compile options"
}

# run_with_cmake PROJECT PROGRAM [CMAKE OPTIONS]
run_with_cmake() {
  quietly cmake -S "$1" -B "$work/program" "${generator[@]}" "${@:3}"
  grep '^-- weft: ' "$work/log" || true
  quietly cmake --build "$work/program" --parallel "$(nproc)"
  "$work/program/$2" "$work/program.h5" || fail "the program failed"
  rm -rf -- "$work/program"
}

for way in "${ways[@]}"; do
  log "$way"
  case $way in
    installed-*)
      install_weft "${way#installed-}"
      for project in "$consumers/installed my_program" "$consumers/pretrained my_pretrained" \
        "$repository/examples/projects/custom_layer custom_layer"; do
        run_with_cmake "${project% *}" "${project##* }" \
          -DCMAKE_PREFIX_PATH="$work/${way#installed-}"
      done
      ;;
    pkg-config-*)
      kind=${way#pkg-config-}
      install_weft "$kind"
      libraries=$(dirname -- "$(find "$work/$kind" -name weft.pc)")
      flags=$(PKG_CONFIG_PATH=$libraries pkg-config --cflags --libs weft)
      # Unquoted, to split the flags into words.
      quietly g++ ${CXXFLAGS:-} -std=c++20 -O1 -I/usr/include/eigen3 "$consumers/consumer.cpp" -o "$work/program" \
        $flags -Wl,-rpath,"$(dirname -- "$libraries")"
      "$work/program" "$work/program.h5" || fail "the program failed"
      flags=$(PKG_CONFIG_PATH=$libraries pkg-config --cflags --libs weft-pretrained)
      quietly g++ ${CXXFLAGS:-} -std=c++20 -O1 "$consumers/pretrained/main.cpp" -o "$work/program" \
        $flags -Wl,-rpath,"$(dirname -- "$libraries")"
      "$work/program" "$work/program.h5" || fail "the program failed"
      rm -- "$work/program"
      ;;
    subproject)
      cp -r -- "$consumers" "$work/source"
      ln -s "$repository" "$work/source/subproject/weft"
      run_with_cmake "$work/source/subproject" my_program
      ;;
    fetched)
      run_with_cmake "$consumers/fetched" my_program -DWEFT_REPOSITORY="$repository" \
        -DWEFT_TAG="$(git -C "$repository" rev-parse HEAD)"
      ;;
    conan)
      # Everything is written to $work, not to the home or the source tree.
      export CONAN_HOME=$work/conan
      conan() { "${PYTHON:-python3}" -m conans.conan "$@"; }
      conan --version || { echo "SKIPPED: needs Conan 2; please install: pip install conan" && continue; }
      quietly conan profile detect
      quietly conan create "$repository/cmake/conan" -c tools.cmake.cmake_layout:test_folder="$work/test"
      sed -n '/Running test()/,$p' "$work/log"
      ;;
    *) fail "expected installed-static, installed-shared, pkg-config-static, pkg-config-shared," \
      "subproject, fetched or conan, got '$way'" ;;
  esac
done
