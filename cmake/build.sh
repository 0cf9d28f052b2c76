# Sourced by examples/run.sh and tests/run.sh: installs the packages that are missing and builds.
set -euo pipefail
repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=$repository/build

say() { printf '\n== %s\n' "$*"; }
stop() {
  printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2
  exit 1
}

# What a command of a package gives, so that one that came another way counts too.
declare -A command_of=([g++]=g++ [cmake]=cmake [ninja-build]=ninja [gnuplot-nox]=gnuplot)

is_installed() {
  local command=${command_of[$1]:-}
  { [ -n "$command" ] && command -v "$command" >/dev/null; } ||
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The names among the arguments of packages that are not installed.
missing_of() {
  local package
  for package in "$@"; do is_installed "$package" || printf '%s ' "$package"; done
}

# apt-get as root, asking nothing.
apt() {
  local -a as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# Speed up matrix products; weft works without them.
optional_packages=(libdnnl-dev)

# Installs what is missing of the packages named; touches neither network nor sudo when nothing is.
install_packages() {
  local missing optional
  missing=$(missing_of "$@")
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null ||
    stop "this script installs with apt-get, which is not here; please install: $missing"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    stop "please run as root or with sudo, or install: $missing"
  say "Installing ${missing% }"
  apt update || stop "apt-get update failed (see above); still missing: $missing"
  optional=$(for package in $(missing_of "${optional_packages[@]}"); do
    apt-cache show "$package" >/dev/null 2>&1 && printf '%s ' "$package"
  done) || true
  # Unquoted: one word a package.
  apt install --no-install-recommends -y $missing $optional >/dev/null ||
    stop "apt-get install failed (see above); still missing: $(missing_of "$@")"
}

# More options for cmake.
cmake_options=()

# Configures, with the tests where Catch2 is there for them, and builds the targets named.
build_targets() {
  local log=$build/configure.log tests=OFF
  local -a generator=()
  ! is_installed catch2 || tests=ON
  [ -f "$build/build.ninja" ] || [ -f "$build/Makefile" ] || generator=(-G Ninja)
  say "Building in $build"
  mkdir -p "$build" || stop "expected a folder that can be written, got $build"
  cmake -S "$repository" -B "$build" "${generator[@]}" -DWEFT_TESTS=$tests "${cmake_options[@]}" \
    >"$log" 2>&1 || {
    cat "$log" >&2
    stop "cmake could not configure (see above); if build/ came from elsewhere, remove it"
  }
  grep '^-- weft: ' "$log" || true
  cmake --build "$build" --parallel "$(nproc)" --target "$@" || stop "the build failed (see above)"
}
