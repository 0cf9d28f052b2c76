#!/usr/bin/env bash
# package.sh: builds the Debian packages libweft0.3, libweft-dev and weft-examples in build/packages/.
# The packages contain the library in three versions: for any x86-64 processor, for processors with
# AVX2 (x86-64-v3), and for processors with AVX-512 (x86-64-v4). The dynamic loader selects the fastest
# version that the processor can run (ld.so(8), glibc-hwcaps). All dates in them are SOURCE_DATE_EPOCH,
# by default the date of the commit, so that the same commit produces the same bytes.
source "$(dirname -- "${BASH_SOURCE[0]}")/build.sh"
packages=$build/packages
mkdir -p "$packages"
date=$(git -C "$repository" log -1 --format=%ct 2>/dev/null || true)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-${date:-$(date +%s)}}
library_folder=lib/$(gcc -print-multiarch)

install_packages "${build_packages[@]}" "${mpi_packages[@]}" dpkg-dev file help2man

for level in x86-64 x86-64-v3 x86-64-v4; do
  options=(-DWEFT_EXAMPLES=OFF -DCMAKE_INSTALL_LIBDIR="$library_folder/glibc-hwcaps/$level")
  [ $level != x86-64 ] ||
    options=(-DWEFT_EXAMPLES=ON -DWEFT_EXAMPLES_DATA=/usr/share/weft-examples/data
      -DCMAKE_INSTALL_LIBDIR="$library_folder" -DCMAKE_EXE_LINKER_FLAGS=-s)
  log "Building for $level"
  cmake -S "$repository" -B "$packages/$level" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=ON -DWEFT_TESTS=OFF -DWEFT_NATIVE=OFF -DCMAKE_CXX_FLAGS=-march=$level \
    -DCMAKE_SKIP_RPATH=ON -DCMAKE_INSTALL_PREFIX=/usr "${options[@]}" >"$packages/$level.log" 2>&1 ||
    fail "cmake failed: see $packages/$level.log"
  cmake --build "$packages/$level" --parallel "$(nproc)" || fail "the build failed (see above)"
  [ $level != x86-64 ] || cmake --build "$packages/$level" --target manual_pages ||
    fail "cannot write the manual pages (see above)"
done

log "Building the packages"
# All files of the first build, but only the libraries of the other builds.
projects="$packages/x86-64;weft;ALL;/;$packages/x86-64-v3;weft;LIBRARY;/;$packages/x86-64-v4;weft;LIBRARY;/"
rm -f -- "$packages"/*.deb
(umask 022 && cd "$packages" && cpack --config x86-64/CPackConfig.cmake -B "$packages" \
  -D CPACK_INSTALL_CMAKE_PROJECTS="$projects" -D CPACK_COMPONENTS_LIBRARY=runtime >cpack.log 2>&1) ||
  fail "cpack failed: $(tail -n 5 "$packages/cpack.log")"
ls -l "$packages"/*.deb
