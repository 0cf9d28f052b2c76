# Sourced by platforms.sh and packages.sh: bare systems of Debian and Ubuntu, in build/platforms/.
source "$(dirname -- "${BASH_SOURCE[0]}")/../cmake/build.sh"
[ "$(id -u)" = 0 ] || fail "expected root, which debootstrap and chroot need"
install_packages debootstrap git
folder=$build/platforms
mkdir -p "$folder"

# Makes $folder/RELEASE, a system of the required packages only.
bootstrap() {
  local -a options=() mirror=(http://deb.debian.org/debian)
  [ ! -d "$folder/$1" ] || return 0
  case $1 in jammy | noble | plucky | questing)
    # The script that debootstrap has for every Ubuntu, also for those that are newer than itself.
    options=("--components=main,universe") mirror=(http://archive.ubuntu.com/ubuntu gutsy) ;;
  esac
  log "Bootstrapping $1"
  rm -rf -- "$folder/$1.part"
  debootstrap --variant=minbase "${options[@]}" "$1" "$folder/$1.part" "${mirror[@]}" \
    >"$folder/$1.log" 2>&1 || fail "debootstrap failed: $(tail -n 3 "$folder/$1.log")"
  mv -- "$folder/$1.part" "$folder/$1"
}

# Makes $system, a copy of a bare system, which keeps the packages it loads for the next copy.
copy_system() { # RELEASE NAME
  bootstrap "$1"
  system=$folder/$2 packages_loaded=$folder/$1-packages
  rm -rf -- "$system"
  cp -a -- "$folder/$1" "$system"
  mkdir -p "$packages_loaded"
}

# Logs in to $system, with what MPI and sudo need of a running system. The mounts are those of the
# command, and end with it.
in_system() { # USER COMMAND
  unshare --mount bash -euc '
    cd "$1"
    mount -t proc proc proc
    mount --bind /sys sys
    mount -t tmpfs tmpfs dev/shm
    mount -t devpts devpts dev/pts
    mount --bind "$2" var/cache/apt/archives
    exec chroot . su - "$3" -c "$4"' in_system "$system" "$packages_loaded" "$@"
}
