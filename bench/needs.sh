# Sourced by the benches, and by tests of what they say.

# needs BUILD PROGRAM…: ends the bench where one of its programs isn't in BUILD/bench. ./quickstart and tests/lab build only what a
# node needs.
needs() {
    local build=$1 program
    shift
    for program in "$@"; do
        [[ -e $build/bench/$program ]] && continue
        echo "bench: $build/bench/$program is not built. Try: cmake --preset release && cmake --build --preset release" >&2
        exit 1
    done
}
