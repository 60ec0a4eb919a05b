# Sourced by the tests of upgrades. $own is the version that the package brought, $next another one.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
asks=(CGPU_MEM=1GiB)
modules=/usr/lib/cgpu/module
own=$(cgpuctl status --json | jq -r .module_version)
next=${own%.*}.$((${own##*.} + 1))
chmod 755 "$scratch"

# install_engine KIND: the bundle of $next, with one of the test engines in it instead of the former one.
install_engine() {
    rm -rf "$modules/$next" "$scratch/$next"
    expect make_bundle "$scratch" "$CGPU_LAB/engines/$1.so" "$next" "$own"
    expect cgpuctl module add -q "$scratch/$next"
}

# upgrade_now FIELD: of the job under way, or the last one.
upgrade_now() {
    cgpuctl status --json | jq -r ".upgrade.$1"
}
at_state() {
    [[ $(upgrade_now state) == "$1" ]]
}
# Any process may be the first.
goes_over() {
    at_state canary || at_state all
}
in_force() {
    cgpuctl status --json | jq -r .module_version
}

# runs_what NAME: the version that the job's processes run, by cgpud.
runs_what() {
    cgpuctl list --json | jq -r --arg name "$1" '.[] | select(.name == $name).module_version'
}
# all_run VERSION: the running jobs.
all_run() {
    [[ $(cgpuctl list --json | jq -r 'map(.module_version) | unique - [$version] | join(",")' --arg version "$1") == '' ]]
}

# maps PID VERSION: the process has this engine mapped, and no other.
maps() {
    [[ $(grep -o 'libcgpu-engine\.so\.[0-9.]*' "/proc/$1/maps" | sort -u) == "libcgpu-engine.so.$2" ]]
}

# idle NAME: a job that holds memory and does nothing; if it is stopped, it delays nothing.
idle() {
    job "$1" -- alloc --mib 100 --hold
    wait_for 20 is_ready "$1"
    wait_for 10 runs_something "$1"
}
runs_something() {
    [[ $(runs_what "$1") ]]
}
freeze() {
    kill -STOP "${pids[$1]}"
}
thaw() {
    kill -CONT "${pids[$1]}"
}
