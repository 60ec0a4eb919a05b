# Every way of `escape`, each alone on a GPU of its own, under each on_escape: found within four seconds of the moment when
# the program holds the memory, by its word and the times of cgpud's log. Under kill it is gone then; otherwise it lives.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/found.sh"

mapfile -t uuids < <(cgpuctl status --json | jq -r '.gpus | sort_by(.index)[].uuid')
declare -A texts=()
ways=() gpu=0 limit='' before=()

# start NAME GPUS TEXTS MIB [FLAG…]: a job that runs `escape`, below the command `before`, on a GPU of its own, with another
# one beside it that isn't the job's where GPUS is 2. TEXTS: what cgpud is to say of it, in any order.
start() {
    # By UUID: numbers would be the job's own.
    local name=$1 visible=${uuids[gpu]}
    (($2 == 1)) || visible+=,${uuids[gpu + 1]}
    texts[$name]=$3
    ways+=("$name")
    job "$name" --gpus "$gpu" --mem "$limit" -- env "CUDA_VISIBLE_DEVICES=$visible" "${before[@]}" escape --mib "${@:4}"
    gpu=$((gpu + $2))
}
start_all() {
    ways=() gpu=0 limit=1GiB before=()
    start plain 1 'outside unexplained' 5000
    start small 1 outside 1
    start talk 1 'outside unexplained' 3284 --talk
    start connected-talk 1 unexplained 3284 --connected --talk
    start device 2 outside 1000 --device 1
    start device-connected 2 outside 1000 --device 1 --connected
    start device-connected-talk 2 outside 1000 --device 1 --connected --talk
    before=(bash -c '"$@" & wait "$!"' bash)
    start child 1 'outside unexplained' 5000
    # Within the limit.
    limit=4GiB
    start child-connected 1 unexplained 1024 --connected
    before=()
    start connected 1 unexplained 1024 --connected
    # Its parent has ended.
    before=(bash -c 'setsid --fork "$@"; exec sleep 1000' bash)
    start orphan 1 'outside unexplained' 5000
    # NVML has them in other lists.
    before=(env SIMGPU_PROCESS_TYPE=G)
    start graphics 1 'outside unexplained' 5000
    before=(env SIMGPU_PROCESS_TYPE=M+C)
    start mps 1 'outside unexplained' 5000
}

printf '%-22s %-8s %s\n' way on_escape 'found after, ms'
for word in report refuse kill; do
    policy "$word"
    start_all
    for name in "${ways[@]}"; do wait_for 30 has "$scratch/$name.out" '^pid'; done
    for name in "${ways[@]}"; do
        pid=$(fact "$scratch/$name.out" pid)
        wanted=${texts[$name]}
        # It is killed for the first of them.
        [[ $word != kill ]] || wanted=${wanted%% *}
        line=''
        for text in $wanted; do
            found=$(took "$name" "$pid" "${!text}") || fail "$name under $word: not found"
            expect_in_time "$name under $word, $text" "$found"
            line+=" $text $found"
        done
        printf '%-22s %-8s%s\n' "$name" "$word" "$line"
        if [[ $word == kill ]]; then
            wait_for 4 gone "$pid"
        else
            wait_for 30 has "$scratch/$name.out" '^ready'
            gone "$pid" && fail "$name has ended under $word"
            kill -TERM "$pid"
        fi
    done
    for name in "${ways[@]}"; do
        [[ $name != orphan ]] || kill -KILL "${pids[$name]}"
        wait "${pids[$name]}" 2>/dev/null
        status=$?
        [[ $word != kill ]] || expect_equal "exit status of $name" "$status" 137
    done
    wait_for 10 none_listed
done
