# Sourced by ./check, ./quickstart and tests/lab: from a bare Debian to a built tree. Needs bash and apt, nothing else.
# Everything here reports to stderr, so that standard output stays the caller's.
bootstrap_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# missing_packages SET…: the packages of these sets that are not installed, a line each.
missing_packages() {
    local package sets set
    while read -r package sets; do
        [[ -z $package || $package == '#'* ]] && continue
        for set in "$@"; do
            [[ " $sets " == *" $set "* ]] || continue
            [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
            break
        done
    done <"$bootstrap_root/cmake/packages.txt"
}

# install_packages SET…: installs missing packages; changes nothing if all are installed.
install_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        echo "Packages are missing: ${missing[*]}. Try: sudo apt-get install ${missing[*]}" >&2
        return 1
    fi
    if ! command -v apt-get >/dev/null; then
        echo "Packages are missing and this is not a Debian system: ${missing[*]}. Try: a Debian 12 or 13." >&2
        return 1
    fi
    echo "Installing: ${missing[*]}" >&2
    # DPkg::Lock::Timeout: another apt (a fresh machine's own update) may be at work.
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } </dev/null >&2 || {
        echo "apt-get could not install them: its message is above. Try: apt-get update, then this again." >&2
        return 1
    }
}

# build_preset NAME [TARGET…]: configures and builds build/NAME, all of it or these targets (cgpu_node: what tests/lab needs).
# One at a time: two ninjas in one tree corrupt each other's work.
build_preset() {
    local preset=$1
    shift
    mkdir -p "$bootstrap_root/build" && (
        cd "$bootstrap_root" && flock 9 && cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
    ) 9>"$bootstrap_root/build/$preset.lock" </dev/null >&2
}
