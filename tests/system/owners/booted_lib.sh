# Sourced by booted.sh: users who have logged in, the ways in which they ask for a part of a GPU, and what each limit says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../docker/lib.sh"
. "$here/../bus/polkit_lib.sh"
storage=(--storage-driver vfs) # the simplest one, which needs no support of the node's file system
configuration=/etc/cgpu/cgpud.yaml.d/50-owners.yaml

# as USER COMMAND…: in a login of the user's.
as() {
    su --login "$1" --command "$(printf '%q ' env "PATH=$PATH" "CGPU_LAB=$CGPU_LAB" "XDG_RUNTIME_DIR=/run/user/$(id -u "$1")" "${@:2}")"
}
# engine USER ARGUMENT…: the user's own Podman; root's for root.
engine() {
    local own=()
    [[ $1 != root ]] || own=(--root "$CGPU_LAB/podman" --runroot "$CGPU_LAB/podman-run")
    as "$1" podman "${own[@]}" "${storage[@]}" --runtime /usr/bin/cgpu-runtime "${@:2}"
}
run_container() { engine "$1" run --rm --network none --pids-limit -1 "${@:2}"; }

# make_user NAME: one who logs in, with a service manager of the user's own.
make_user() {
    expect useradd --create-home --shell /bin/bash "$1"
    expect loginctl enable-linger "$1"
}
has_logged_in() { [[ -S /run/user/$(id -u "$1")/bus ]]; }

# may_run USER…: whom polkit allows to run jobs; one after `high` may change all instances, too.
may_run() {
    mkdir -p $rules
    printf 'polkit.addRule(function(action, subject) {
        if (action.id == "org.cgpu1.run" && "%s".split(" ").indexOf(subject.user) >= 0) return polkit.Result.YES;
        if (action.id == "org.cgpu1.manage-instance" && subject.user == "%s") return polkit.Result.YES;
    });\n' "${*%% high*}" "$(sed -n 's/.* high //p' <<<"$*")" >$rules/50-cgpu.rules
}

reload() {
    local before
    before=$(read_times)
    expect systemctl reload cgpud
    is_read() { (($(read_times) > before)); }
    wait_for 10 is_read
}
read_times() { cgpuctl status --json | jq '.event_counts["configuration-read"] // 0'; }

instance_of() { cgpuctl list --json | jq --arg name "$1" '.[] | select(.name == $name)'; }
lives() { [[ -n $(instance_of "$1") ]]; }
owner() { cgpuctl list | awk -v name="$1" '$2 == name {print $3}'; }

# hold USER NAME COMMAND…: the user starts a job that stays.
hold() {
    rm -f "$scratch/$2.out"
    as "$1" "${@:3}" >"$scratch/$2.out" 2>"$scratch/$2.err" </dev/null &
    pids[$2]=$!
    wait_for 30 is_ready "$2"
}
let_go() { # NAME
    expect cgpuctl stop "$1" >/dev/null
    is_gone() { ! lives "$1"; }
    wait_for 10 is_gone "$1"
}
# hold_container NAME VARIABLE…: of root's engine.
hold_container() {
    local set
    mapfile -t set < <(options -e "${@:2}")
    expect docker run -d --rm --name "$1" --runtime cgpu --network none "${set[@]}" lab alloc --mib 100 --hold >/dev/null
    wait_for 20 container_is_ready "$1"
}
# alice_holds_container NAME SIZE GPU COMMAND…: of her own engine, as another user in it.
alice_holds_container() {
    hold alice "$1" podman "${storage[@]}" --runtime /usr/bin/cgpu-runtime run --rm --name "$1" --network none --pids-limit -1 \
        --user 1000:1000 -e "CGPU_MEM=$2" -e "CGPU_GPUS=$3" lab "${@:4}"
}

# --- the ways to ask. Each: USER PROFILE NAME=VALUE…, a request that ends at once; PROFILE asks for the same memory and compute.
rest() { # what a profile doesn't say
    local pair
    for pair in "$@"; do [[ $pair == CGPU_MEM=* || $pair == CGPU_COMPUTE=* ]] || echo "$pair"; done
}
# options OPTION NAME=VALUE…: the option before each.
options() { local pair; for pair in "${@:2}"; do printf '%s\n' "$1" "$pair"; done; }

by_flags() {
    local flags=() pair
    for pair in "${@:3}"; do
        case $pair in
            CGPU_MEM=*) flags+=(--mem "${pair#*=}") ;;
            CGPU_GPUS=*) flags+=(--gpus "${pair#*=}") ;;
            CGPU_COMPUTE=*) flags+=(--compute "${pair#*=}") ;;
            CGPU_PRIO=*) flags+=(--prio "${pair#*=}") ;;
            CGPU_PROFILE=*) flags+=(--profile "${pair#*=}") ;;
            CGPU_TIME=*) flags+=(--time "${pair#*=}") ;;
        esac
    done
    as "$1" cgpuctl run "${flags[@]}" -- true
}
by_environment() { as "$1" env "${@:3}" cgpuctl run -- true; }
by_profile() {
    local others
    mapfile -t others < <(rest "${@:3}")
    as "$1" env "${others[@]}" cgpuctl run --profile "$2" -- true
}
by_bus() {
    local pair variables=()
    for pair in "${@:3}"; do variables+=("${pair%%=*}" "${pair#*=}"); done
    as "$1" busctl --allow-interactive-authorization=false call org.cgpu1 /org/cgpu1 org.cgpu1.Manager CreateInstance \
        'ssa{ss}a{sv}' asked asked $((${#variables[@]} / 2)) "${variables[@]}" 1 dry-run b true
}
by_own_service() {
    local set
    mapfile -t set < <(options --setenv "${@:3}")
    as "$1" systemd-run --user --quiet --pipe --wait --collect "${set[@]}" cgpuctl run -- true
}
by_system_service() {
    local set
    mapfile -t set < <(options --setenv "${@:3}")
    systemd-run --quiet --pipe --wait --collect --uid "$1" "${set[@]}" cgpuctl run -- true
}
by_podman() {
    local set
    mapfile -t set < <(options -e "${@:3}")
    run_container "$1" "${set[@]}" lab true
}
by_annotation() { # Podman takes its value as a line of CSV
    local set
    mapfile -t set < <(options --annotation "${@:3}" | sed '/,/s/.*/"&"/')
    run_container "$1" "${set[@]}" lab true
}
by_device() {
    local set others
    mapfile -t others < <(rest "${@:3}")
    mapfile -t set < <(options -e "${others[@]}")
    run_container "$1" --device "cgpu.org/gpu=$2" "${set[@]}" lab true
}
by_docker() {
    local set
    mapfile -t set < <(options -e "${@:3}")
    docker run --rm --runtime cgpu --network none "${set[@]}" lab true
}
by_root_annotation() { by_annotation root "${@:2}"; }
by_root_device() { by_device root "${@:2}"; }

# --- each limit, met and missed
declare -A who=([alice]=alice [containers]="the containers of root's engine together")
# key HOLDER LIMIT: of the rule that holds. Alice has limits of her own, of two groups, and the default ones.
key() {
    [[ $1 == alice ]] || { echo "limits.$1.$2" && return; }
    case $2 in
        memory_per_gpu) echo limits.users.alice.memory_per_gpu ;;
        instances) echo limits.groups.night.instances ;;
        gpus) echo limits.default.gpus ;;
        *) echo "limits.groups.team.$2" ;;
    esac
}
# sentence HOLDER LIMIT: what a request reads that misses it: the rule, and what is in use by which jobs.
sentence() {
    local in_use='and has 1 instance: train \(2GiB\)' may="${who[$1]} may"
    case $2 in
        memory_per_gpu) echo "$may have 5GiB of one GPU \\($(key "$@")\\), of which 3GiB is left on it, $in_use" ;;
        memory) echo "$may have 6GiB in all \\($(key "$@")\\), $in_use" ;;
        compute) echo "$may have 25% of a GPU's 20 slices \\($(key "$@")\\), and has weight 2 there, $in_use" ;;
        gpus) echo "3 GPUs at once .*$may have 2 GPUs \\($(key "$@")\\), $in_use" ;;
        priority) echo "$may not have high priority \\($(key "$@")\\)" ;;
        instances) echo "$may have 2 instances \\($(key "$@")\\), and has 2 instances: (train|second) .*(train|second) \\(" ;;
    esac
}
# is_asked HOLDER WAY LIMIT: a container takes half a second, so a check asks for a part of the limits in the ways that start one, each limit
# in one of them at least. With CGPU_TEST_SCALE=1 (./check --long), it asks for all in each.
is_asked() {
    jq -en "${CGPU_TEST_SCALE:-0.1} < 1" >/dev/null || return 0
    case "$1 $2" in
        *\ podman) [[ $3 != compute && $3 != priority ]] ;;
        *\ annotation | *\ root_device) [[ $3 == memory || $3 == compute ]] ;;
        *\ device) [[ $3 == memory || $3 == priority ]] ;;
        *\ root_annotation) [[ $3 == memory || $3 == gpus ]] ;;
        alice\ docker) [[ $3 != gpus && $3 != memory_per_gpu ]] ;;
    esac
}
# met_and_missed WAY HOLDER USER NAME=VALUE…: beside the job `train` of 2 GiB and 10 % on GPU 0, what just fits is admitted, and a
# little more is refused, for each limit. The variables are added to each request.
met_and_missed() {
    local way=$1 holder=$2 user=$3 limit fits more
    while read -r -u 3 limit fits more; do
        is_asked "$holder" "$way" "$limit" || continue
        # shellcheck disable=SC2086 # words
        quietly "by_$way" "$user" "$limit" ${fits//+/ } "${@:4}" ||
            fail "$limit of $user by $way: $fits fits: $("by_$way" "$user" "$limit" ${fits//+/ } "${@:4}" 2>&1)"
        # shellcheck disable=SC2086
        expect_error "$(sentence "$holder" "$limit").* Try: " "by_$way" "$user" "$limit-more" ${more//+/ } "${@:4}"
    done 3<<'TEXT'
memory_per_gpu CGPU_MEM=3GiB+CGPU_GPUS=0 CGPU_MEM=3073MiB+CGPU_GPUS=0
memory CGPU_MEM=4GiB+CGPU_GPUS=1 CGPU_MEM=4097MiB+CGPU_GPUS=1
compute CGPU_MEM=1GiB+CGPU_COMPUTE=15%+CGPU_GPUS=0 CGPU_MEM=1GiB+CGPU_COMPUTE=20%+CGPU_GPUS=0
gpus CGPU_MEM=1GiB+CGPU_GPUS=0,1 CGPU_MEM=1GiB+CGPU_GPUS=1,2
priority CGPU_MEM=1GiB+CGPU_PRIO=normal CGPU_MEM=1GiB+CGPU_PRIO=high
TEXT
}
# The profiles of these requests, for the ways that ask by one.
request_profiles='  memory_per_gpu: {mem: 3GiB}
  memory_per_gpu-more: {mem: 3073MiB}
  memory: {mem: 4GiB}
  memory-more: {mem: 4097MiB}
  compute: {mem: 1GiB, compute: 15%}
  compute-more: {mem: 1GiB, compute: 20%}
  gpus: {mem: 1GiB, gpus: 2}
  gpus-more: {mem: 1GiB, gpus: 2}
  priority: {mem: 1GiB}
  priority-more: {mem: 1GiB}
  instances-more: {mem: 1MiB}'
# one_too_many WAY HOLDER USER NAME=VALUE…: beside `train` and `second`, the smallest request is refused.
one_too_many() {
    expect_error "$(sentence "$2" instances).* Try: " "by_$1" "$3" instances-more CGPU_MEM=1MiB "${@:4}"
}
