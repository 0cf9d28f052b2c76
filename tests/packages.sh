#!/usr/bin/env bash
# packages.sh: builds the Debian packages (cmake/package.sh) and checks them with lintian. Then, in a
# bare system of this machine's release, installs the packages, runs a program with each library that
# the processor supports, builds a program against the packages, and removes them without leaving files.
# Needs root and a network. The output of the bare system is build/platforms/packages.log.
source "$(dirname -- "${BASH_SOURCE[0]}")/bare_systems.sh"
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
out=$folder/packages.log
install_packages lintian

bash "$repository/cmake/package.sh"

log "lintian"
lintian --fail-on error "$build"/packages/*.deb

copy_system "$release" packages
mkdir -p "$system/tmp/packages"
cp -- "$build"/packages/*.deb "$system/tmp/packages"
cp -r -- "$repository/tests/consumers" "$system/tmp"
: >"$out"
try() { # WHAT COMMAND
  log "$1"
  in_system root "set -e; $2" >"$out.step" 2>&1 || {
    tail -n 30 "$out.step" >&2
    fail "$1: failed (see above and $out)"
  }
  tail -n "${3:-1}" "$out.step"
  cat "$out.step" >>"$out"
}

try "Installing the programs" "apt-get -qq update &&
  apt-get -qq install --no-install-recommends /tmp/packages/libweft0*.deb /tmp/packages/weft-examples*.deb &&
  dpkg-query -W libweft0.3 weft-examples" 2
try "Running a program with each library" 'loader=/lib64/ld-linux-x86-64.so.2 program=/usr/bin/weft-pronounce
  for level in x86-64-v4 x86-64-v3 x86-64; do
    "$loader" --glibc-hwcaps-mask $level --list $program | sed -n "s/.*libweft.* => \(.*\) (.*/\1/p"
    start=$(date +%s%N)
    "$loader" --glibc-hwcaps-mask $level $program --help >/dev/null
    echo "started in $((($(date +%s%N) - start) / 1000000)) ms"
    "$loader" --glibc-hwcaps-mask $level $program gradcheck >/tmp/gradcheck
    tail -n 1 /tmp/gradcheck
  done' 9
try "Building a program" "apt-get -qq install --no-install-recommends g++ cmake make libeigen3-dev \
    /tmp/packages/libweft-dev*.deb &&
  cmake -S /tmp/consumers/installed -B /tmp/build -DCMAKE_BUILD_TYPE=Release && cmake --build /tmp/build &&
  /tmp/build/my_program"
try "Removing them" 'files=$(dpkg -L libweft0.3 libweft-dev weft-examples)
  apt-get -qq purge libweft0.3 libweft-dev weft-examples
  for file in $files; do [ ! -f "$file" ] || { echo "left: $file" && exit 1; }; done
  left=$(find / -xdev -path /tmp -prune -o -iname "*weft*" -print)
  [ -z "$left" ] || { echo "left: $left" && exit 1; }
  echo "nothing is left"'
rm -rf -- "$system"
