# Sourced by the scripts of examples/ and tests/: installs missing packages and builds targets.
set -euo pipefail
repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=$repository/build

log() { printf '\n== %s\n' "$*"; }
fail() {
  printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2
  exit 1
}

# The commands that packages provide. A command may also be installed without the package.
declare -A command_of=([g++]=g++ [cmake]=cmake [ninja-build]=ninja [gnuplot-nox]=gnuplot)

is_installed() {
  local command=${command_of[$1]:-}
  { [ -n "$command" ] && command -v "$command" >/dev/null; } ||
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Prints the named packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do is_installed "$package" || printf '%s ' "$package"; done
}

# Runs apt-get as root and non-interactively.
apt() {
  local -a as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# The packages required to build the library and the examples.
build_packages=(g++ cmake ninja-build libeigen3-dev libhdf5-dev libxxhash-dev libcxxopts-dev
  libutf8proc-dev nlohmann-json3-dev libcsv-dev libonig-dev
  libminizip-dev)
# Optional packages that make matrix products faster.
optional_packages=(libdnnl-dev)

# The packages required to train in several processes.
mpi_packages=(libopenmpi-dev openmpi-bin)
# By default, Open MPI refuses to run as root or with more processes than cores. Versions 4 and 5 use
# different variables.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

# Installs the named packages that are missing. If none is missing, needs neither network nor sudo.
install_packages() {
  local missing optional
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null ||
    fail "apt-get not found; please install: $missing"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    fail "root or sudo is required to install packages; please install: $missing"
  log "Installing ${missing% }"
  apt update || fail "apt-get update failed (see above); still missing: $missing"
  optional=$(for package in $(missing_packages "${optional_packages[@]}"); do
    apt-cache show "$package" >/dev/null 2>&1 && printf '%s ' "$package"
  done) || true
  # Unquoted: splits into package names.
  apt install --no-install-recommends -y $missing $optional >/dev/null ||
    fail "apt-get install failed (see above); still missing: $(missing_packages "$@")"
}

# The preset of CMakePresets.json to configure with (empty: none), and additional options for cmake.
preset=
cmake_options=()

# Configures and builds the named targets. The tests are enabled if Catch2 is installed.
build_targets() {
  local log=$build/configure.log tests=OFF
  local -a generator=()
  ! is_installed catch2 || tests=ON
  [ -f "$build/build.ninja" ] || [ -f "$build/Makefile" ] || generator=(-G Ninja)
  log "Building in $build"
  mkdir -p "$build" || fail "cannot create the directory $build"
  cmake -S "$repository" -B "$build" ${preset:+--preset "$preset"} "${generator[@]}" \
    -DWEFT_TESTS=$tests "${cmake_options[@]}" >"$log" 2>&1 || {
    cat "$log" >&2
    fail "cmake failed (see above); if build/ was copied from elsewhere, remove it"
  }
  grep '^-- weft: ' "$log" || true
  cmake --build "$build" --parallel "$(nproc)" --target "$@" || fail "the build failed (see above)"
}

# Runs the tests that build_targets built, with additional options for ctest. If the build is in the
# directory of the preset, uses the preset, because Debian 12's ctest then ignores --test-dir.
run_tests() {
  local -a tests=(--test-dir "$build" --output-on-failure --no-tests=error)
  [ "$build" != "$repository/build/$preset" ] || tests=(--preset "$preset")
  log "Running the tests"
  # Several tests run at a time, so waiting threads should sleep.
  export OMP_WAIT_POLICY=passive
  (cd "$repository" && ctest "${tests[@]}" --parallel "$(nproc)" "$@") ||
    fail "some tests failed (see above)"
}
