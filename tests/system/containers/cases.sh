# The cases of the container suite: sourced after words.sh. Each begins and ends without containers, with the requests of
# $asks, which it restores.

cases=(run exec_in_it users pause restart kill commit read_only capabilities tmpfs other_mode many refusals waiting quadlet user_namespace)
all_cases() {
    local case wanted=("${asks[@]}")
    for case in "${cases[@]}"; do
        "case_$case"
        asks=("${wanted[@]}")
    done
}

case_run() {
    expect_total "$limit_of_four" once -- info
    once -- sh -c 'exit 7'
    expect_equal "exit status" $? 7
    expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' once -- alloc --mib 4302
    computing red blue
    computes red
    computes blue
    expect_equal "instances" "$(cgpuctl list -q | wc -l)" 2
    expect_equal "ids" "$(cgpuctl list -q | sort)" "$(sort "$scratch/red.id" "$scratch/blue.id")"
    expect_equal "names" "$(cgpuctl list --json | jq -c '[.[].name] | sort')" '["blue","red"]'
    expect_equal "images other than lab" "$(cgpuctl list --json | jq -c '[.[].image | select(test("(^|/)lab(:latest)?$") | not)]')" '[]'
    # A program that ends by itself, and one that is asked to.
    expect engine stop -t 10 red >/dev/null
    expect_equal "exit status of red" "$(engine inspect -f '{{.State.ExitCode}}' red)" 0
    computes blue
    gone red blue
}

case_exec_in_it() {
    local uuid
    uuid=$(cgpuctl status --json | jq -r '.gpus[0].uuid')
    computing red
    expect_total "$limit_of_four" engine exec red info
    expect_total "$limit_of_four" engine exec red env -i /usr/local/bin/info
    expect_total "$limit_of_four" engine exec -e ALIYUN_COM_GPU_MEM_CONTAINER=15 -e CGPU_DISABLE=1 red info
    expect_total "$limit_of_four" engine exec -e LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu red info
    # In its mode cdi NVIDIA's runtime replaces the first by a word.
    local seen
    seen=$(engine exec red sh -c 'echo $NVIDIA_VISIBLE_DEVICES $ALIYUN_COM_GPU_MEM_CONTAINER')
    expect_equal "what a process that is executed sees" "${seen/#void/$uuid}" "$uuid 4"
    expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' engine exec red alloc --mib 4302
    expect_error 'Read-only file system|Device or resource busy' engine exec red rm /run/cgpu/front/libcuda.so.1
    computes red
    gone red
}

case_users() {
    expect_total "$limit_of_four" once --user 1000:1000 -- info
    expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' once --user 1000:1000 -- alloc --mib 4302
    computing red
    expect_total "$limit_of_four" engine exec --user 1234:1234 red info
    gone red
}

case_pause() {
    # Its program waits. One that computes could be stopped while it holds the simulator's lock, and block all others.
    container red -- alloc --mib 1000 --hold
    wait_for 20 container_is_ready red
    computing blue
    local before
    before=$(held "${pids[red]}")
    expect engine pause red >/dev/null
    computes blue
    expect_equal "instances" "$(cgpuctl list -q | wc -l)" 2
    expect_equal "bytes of the paused one" "$(held "${pids[red]}")" "$before"
    asks=(CGPU_MEM=12GiB)
    expect_error 'cgpu: 12GiB .*is free' once -- info
    asks=("${four_of_15[@]}")
    expect engine unpause red >/dev/null
    expect_total "$limit_of_four" engine exec red info
    expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' engine exec red alloc --mib 3302
    computes blue
    gone red blue
}

case_restart() {
    computing red
    for _ in 1 2; do
        expect engine restart -t 0 red >/dev/null
        find_pid red
        expect_total "$limit_of_four" engine exec red info
        expect_equal "instances" "$(cgpuctl list -q)" "$(cat "$scratch/red.id")"
        computes red
    done
    expect engine stop -t 10 red >/dev/null
    wait_for 10 none_listed
    expect engine start red >/dev/null
    find_pid red
    computes red
    gone red
}

case_kill() {
    computing red blue
    expect engine kill red >/dev/null
    wait_for 10 only_listed blue
    computes blue
    # From outside, without the engine's knowledge.
    kill -KILL "${pids[blue]}"
    wait_for 10 none_listed
    wait_for 10 nothing_held
    gone red blue
    computing red
    expect engine exec -d red alloc --mib 1000 --hold
    wait_for 10 more_held_than $((1000 << 20))
    gone red
}
only_listed() { [[ $(cgpuctl list -q) == "$(cat "$scratch/$1.id")" ]]; }
more_held_than() { (($(ledger '[.gpus[].used_bytes] | add') > $1)); }

case_commit() {
    computing red
    expect engine commit red kept >/dev/null
    gone red
    # What cgpu mounted isn't in the image, nor what the links to the driver were covered by.
    managed run --rm -e CGPU_DISABLE=1 kept find /run /usr/lib/x86_64-linux-gnu -name '*cgpu*' -type f >"$scratch/found" ||
        fail "the image can't be run: $(cat "$scratch/found")"
    managed run --rm -e CGPU_DISABLE=1 kept sh -c 'ls -A /run/cgpu 2>/dev/null' >>"$scratch/found"
    expect_equal "cgpu's files in the image" "$(cat "$scratch/found")" ""
    expect_total "$limit_of_four" managed run --rm kept info
    wait_for 10 none_listed
    expect engine rmi kept >/dev/null
}

case_read_only() {
    # The hooks of NVIDIA's runtime can't write into a read-only root of crun's, with or without cgpu.
    if [[ $runtime == runc ]]; then
        expect_total "$limit_of_four" once --read-only -- info
        expect_total "$limit_of_four" once --read-only --tmpfs /run --tmpfs /tmp -- info
        expect_total "$limit_of_four" once --read-only --user 1000:1000 -- info
        expect_error 'Read-only file system' once --read-only -- touch /file
    fi
    next_is_low_level
    expect_total "$limit_of_four" once "${driver_volumes[@]}" -- info
    expect_total "$limit_of_four" once "${driver_volumes[@]}" --read-only -- info
    expect_total "$limit_of_four" once "${driver_volumes[@]}" --read-only --tmpfs /run --user 1000:1000 -- info
    expect_error 'Read-only file system' once "${driver_volumes[@]}" --read-only -- touch /file
    expect_error 'Read-only file system' once "${driver_volumes[@]}" --read-only -- touch /run/cgpu/file
    rm /etc/cgpu/next-runtime
    wait_for 10 none_listed
}

case_capabilities() {
    expect_total "$limit_of_four" once --cap-drop ALL -- info
    expect_total "$limit_of_four" once --cap-drop ALL --security-opt no-new-privileges --user 1000:1000 -- info
    expect_total "$limit_of_four" once --cap-add SYS_ADMIN --pid=host -- info
    expect_total "$limit_of_four" once --security-opt seccomp=unconfined --ipc=host -- info
    wait_for 10 none_listed
}

case_tmpfs() {
    expect_total "$limit_of_four" once --tmpfs /run -- info
    expect_total "$limit_of_four" once --tmpfs /run/cgpu -- info
    expect_total "$limit_of_four" once --tmpfs /tmp --tmpfs /var/tmp --shm-size 8m -- info
    wait_for 10 none_listed
}

# The other way in which NVIDIA's runtime brings the driver in: a prestart hook, or mounts of config.json.
case_other_mode() {
    local mode
    mode=$(cat /etc/nvidia-container-runtime/mode)
    use "$engine" "$runtime" "$([[ $mode == cdi ]] && echo legacy || echo cdi)"
    expect_total "$limit_of_four" once -- info
    expect_total "$limit_of_four" once --user 1000:1000 -- info
    computing red
    expect_total "$limit_of_four" engine exec --user 1000:1000 red env -i /usr/local/bin/info
    computes red
    gone red
    use "$engine" "$runtime" "$mode"
}

# Twenty at once, each with a sixteenth of the card: 15 fit, and 5 are told why not.
case_many() {
    local number started=() refused=0
    asks=(CGPU_MEM=1GiB)
    for ((number = 0; number < 20; number++)); do
        managed run -d --name "many$number" lab alloc --mib 200 --hold >"$scratch/many$number.id" 2>"$scratch/many$number.err" &
        started+=($!)
    done
    for number in "${!started[@]}"; do
        wait "${started[number]}" && continue
        refused=$((refused + 1))
        has "$scratch/many$number.err" 'cgpu: 1GiB .*(MiB of 16130MiB is free|instances)' ||
            fail "many$number: $(cat "$scratch/many$number.err")"
    done
    expect_equal "containers that don't fit" "$refused" 5
    expect_equal "instances" "$(cgpuctl list -q | wc -l)" 15
    wait_for 20 more_held_than $((15 * (200 << 20)))
    expect_between "bytes that are held" "$(ledger '[.gpus[].used_bytes] | add')" $((15 * (200 << 20))) $((16130 << 20))
    gone many{0..19}
}

case_refusals() {
    asks=(CGPU_MEM=much)
    expect_error 'cgpu: CGPU_MEM="much": .* Try: ' once -- info
    asks=(CGPU_MEM=20GiB)
    expect_error 'cgpu: .*20GiB .*16130MiB.* Try: ' once -- info
    asks=(CGPU_MEMORY=1GiB)
    expect_error 'cgpu: CGPU_MEMORY="1GiB": cgpu knows no such variable. Try: CGPU_MEM' once -- info
    wait_for 10 none_listed
    # After the grant, by a hook: the driver isn't in the container.
    asks=(CGPU_MEM=1GiB)
    next_is_low_level
    expect_error 'cgpu: the container: there is no libcuda.so.1 in it' once -- info
    rm /etc/cgpu/next-runtime
    wait_for 10 none_listed
    expect stop_cgpud TERM
    expect_error 'cgpu: cgpud: it does not answer on the system bus' once -- info
    asks=()
    expect_equal "a plain container" "$(once -- echo here)" here
    expect start_cgpud
    wait_for 10 none_listed
}

# The first example of docs/containers.md for Podman's files of services (quadlet): the command that Podman's generator makes of
# it, without what only systemd provides.
queue_has() { [[ $(cgpuctl queue --json | jq -r '.[].name') == "$1" ]]; }
case_waiting() {
    local blue
    asks=(CGPU_MEM=12GiB)
    container red -- alloc --mib 1000 --hold
    wait_for 20 container_is_ready red
    asks=(CGPU_MEM=8GiB)
    expect_error 'it has waited 1s in the queue, and still waits: GPU 0 has 3842MiB free' once -e CGPU_WAIT=1s -- info
    managed run -d --name blue -e CGPU_WAIT=50s lab alloc --mib 1000 --hold >"$scratch/blue.out" 2>&1 &
    blue=$!
    wait_for 20 queue_has blue
    wait_for 10 removed red
    wait $blue || fail "blue, which has waited: $(cat "$scratch/blue.out")"
    wait_for 20 container_is_ready blue
    gone blue
    asks=(CGPU_RESERVATION="$(cgpuctl reserve -q --mem 4301MiB)")
    expect_total "$limit_of_four" once -- info
    expect_error 'CGPU_RESERVATION: there is no such reservation' once -- info
    wait_for 10 none_listed
}

case_quadlet() {
    local generator=/usr/libexec/podman/quadlet folder=$scratch/quadlet words=()
    [[ $engine == podman ]] || return 0
    [[ -x $generator ]] || { echo "quadlet: NOT TRIED, this Podman has none" && return; }
    mkdir -p "$folder"
    awk '/^### Quadlet/ { here = 1 } here && /^```/ { if (++fence == 2) exit; next } fence == 1' "$top/docs/containers.md" |
        sed "s/^Image=IMAGE/Image=lab\nExec=info/" >"$folder/worker.container"
    expect has "$folder/worker.container" 'CGPU_MEM=4GiB'
    QUADLET_UNIT_DIRS=$folder "$generator" --dryrun >"$scratch/worker.service" 2>"$scratch/quadlet.err" ||
        fail "quadlet: $(cat "$scratch/quadlet.err")"
    read -r -a words <<<"$(sed -n 's/^ExecStart=[^ ]*podman //p' "$scratch/worker.service" |
        sed -E 's/ (--cgroups=split|--sdnotify=conmon|--cidfile=[^ ]*|-d)\b//g; s/%N/worker/')"
    expect_equal "the command" "${words[0]} ${words[1]}" "--runtime=cgpu run"
    expect_total $((4 << 30)) engine "${words[@]:0:2}" --network none --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 \
        "${words[@]:2}"
    wait_for 10 none_listed
}

# In user namespaces the container's root is an ordinary user of the host. Podman makes one for a container, Docker for all.
case_user_namespace() {
    local options=()
    unshare --user true 2>/dev/null || { echo "user namespaces: NOT TRIED, this kernel makes none" && return; }
    # The hooks of NVIDIA's runtime can't write into such a root of crun's, with or without cgpu.
    if [[ $runtime == crun ]]; then
        options=("${driver_volumes[@]}")
        next_is_low_level
    fi
    case $engine in
        docker) remap lab-remap ;;
        podman) options+=(--uidmap "0:$first_uid:65536" --gidmap "0:$first_uid:65536") ;;
    esac
    if [[ $runtime == crun ]] && ! once "${options[@]}" -- true 2>"$scratch/refused"; then
        # In such a namespace some crun executes no createContainer hook at all, not even /bin/true.
        expect has "$scratch/refused" 'error executing hook'
        wait_for 10 none_listed
        echo "user namespaces of $engine with $runtime: NOT SUPPORTED, such a container doesn't start"
    else
        expect_limit_in_user_namespace "${options[@]}"
    fi
    rm -f /etc/cgpu/next-runtime
    [[ $engine != docker ]] || remap ''
}
expect_limit_in_user_namespace() { # OPTION…
    local name
    container red "$@" -- burn --forever
    container blue --user 1000:1000 "$@" -- burn --forever
    expect_equal "uid on the host" "$(stat -c %u "/proc/${pids[red]}")" $first_uid
    expect_equal "uid on the host" "$(stat -c %u "/proc/${pids[blue]}")" $((first_uid + 1000))
    for name in red blue; do
        wait_for 20 container_is_ready "$name"
        expect_total "$limit_of_four" engine exec "$name" info
        expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' engine exec "$name" alloc --mib 4302
        computes "$name"
    done
    gone red blue
}
# remap USER: the private dockerd again, with its containers in the namespace of this user's ids; or without one.
remap() {
    expect stop_docker
    jq --arg user "$1" '."userns-remap" = $user' /etc/docker/daemon.json >"$scratch/daemon.json" || fail "no daemon.json"
    cp "$scratch/daemon.json" /etc/docker/daemon.json
    expect start_docker
    docker image inspect lab >/dev/null 2>&1 || expect docker load -q -i "$scratch/lab.tar" >/dev/null
}
