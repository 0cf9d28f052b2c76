#!/usr/bin/env bash
# reproducible.sh [static|packages]: builds this commit twice, in clones in different folders, one after
# the other and without ccache, and compares the results byte for byte: the static libraries, and the
# shared libraries and programs in the Debian packages. By default, compares both. Takes about 40
# minutes on two cores.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
parts=${*:-static packages}
install_packages "${build_packages[@]}"
export CCACHE_DISABLE=1

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
clones=("$work/first" "$work/another/folder/second")
for clone in "${clones[@]}"; do git clone -q "$repository" "$clone"; done

# compare FILE...: fails unless both clones have the same bytes in the files build/FILE.
compare() {
  local file
  for file in "$@"; do
    cmp "${clones[@]/%//build/$file}" || fail "$file differs between two builds"
    printf '%s  %s\n' "$(sha256sum <"${clones[0]}/build/$file" | cut -c 1-16)" "$file"
  done
}

for part in $parts; do
  for clone in "${clones[@]}"; do
    log "Building $part in $clone"
    case $part in
      static)
        { cmake -S "$clone" -B "$clone/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
          -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF &&
          cmake --build "$clone/build" --parallel "$(nproc)"; } >"$work/log" 2>&1
        ;;
      packages) bash "$clone/cmake/package.sh" >"$work/log" 2>&1 ;;
      *) fail "expected static or packages, got '$part'" ;;
    esac || fail "the build failed: $(tail -n 5 "$work/log")"
  done
  log "Comparing"
  case $part in
    static) compare libweft.a libweft_pretrained.a ;;
    packages)
      mapfile -t files < <(cd "${clones[0]}/build" && ls packages/*.deb packages/x86-64*/libweft*.so.*.*.*)
      compare "${files[@]}"
      ;;
  esac
done
