# NVIDIA's own nvidia-smi over the simulator, each version that `fetch` got, under the simulated driver of that version. Two jobs
# share the second of two GPUs, where one of them computes; a third one computes on the first. On the node its tables show the
# cards and all processes. In a job every cell of the second card's is the same, except: it is the only GPU, with the index 0, its
# memory is the job's limit and what it is charged, its utilisation is the job's, and no process is listed but the job's own. So
# it is with nvtop and NVML's bindings for Python.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/install.sh"
here=$(cd "$(dirname "$0")" && pwd)
fetched=$(cd "$here/../../.." && pwd)/build/real_driver
older=$(dirname "$(readlink -f "$(command -v simgpu)")")/older
mapfile -t drivers < <(find "$fetched" -mindepth 2 -maxdepth 2 -name nvidia-smi -printf '%h\n' 2>/dev/null | sort -V)
((${#drivers[@]})) || skip "there is no nvidia-smi of NVIDIA's here. Try: tests/system/real_driver/fetch"
mib=$((1024 * 1024))
card=16130 reserved=254 limit=4096 # MiB
compared=0 differing=0

in_job() { # NAME COMMAND…
    nsenter --mount --target "${pids[$1]}" "${@:2}"
}
mib_of() { # PID…: what they hold together, in MiB; each holds memory of one GPU only
    local sum=0 pid
    for pid in "$@"; do sum=$((sum + $(held "$pid" 0) + $(held "$pid" 1))); done
    echo $((sum / mib))
}

# compare WHAT GOT WANTED: files with a cell, or a row of cells, a line.
compare() {
    local lines differ
    lines=$(wc -l <"$3")
    differ=$(diff "$3" "$2" | tee "$scratch/differ" | grep -c '^[<>]')
    head -n 20 "$scratch/differ"
    ((lines)) || fail "$1: nothing to compare"
    compared=$((compared + lines))
    differing=$((differing + differ))
    echo "$1: $lines compared, $differ differ"
}

# cells COMMAND…: the tables that nvidia-smi prints, a cell a line, without the time.
cells() {
    "$@" >"$scratch/table" || fail "$* failed: $(cat "$scratch/table")"
    sed -e 1d -e 's/[-=+]*//' "$scratch/table" | tr '|' '\n' | sed -E 's/^ +//; s/ +$//; s/ +/ /g; /^[-=+ ]*$/d'
}
# elements COMMAND…: the elements of nvidia-smi's XML, each with its path, without the time.
elements() {
    "$@" >"$scratch/xml" || fail "$* failed: $(cat "$scratch/xml")"
    python3 "$here/elements.py" <"$scratch/xml" | grep -v timestamp
}

# only PID TYPE…: of the rows of processes in a table those of these, and all other lines.
only() {
    awk -v own=" $* " '/^0 N\/A N\/A [0-9]+ / { if (!index(own, " " $4 " " $5 " ")) next } { print }'
}

compare_tables() { # VERSION
    local smi=$fetched/$1/nvidia-smi total=$((card + reserved))
    [[ $1 == 470.* ]] && total=$card
    cells "$smi" >"$scratch/outside"
    expect_equal "memory of the cards" "$(grep -E '^[0-9]+MiB / ' "$scratch/outside" | xargs)" \
        "$(mib_of "${pids[other]}")MiB / ${total}MiB ${all}MiB / ${total}MiB"
    expect_equal "processes of the card" "$(grep -E '^1 N/A N/A [0-9]+ ' "$scratch/outside")" "$(
        for pid in "${all_pids[@]}"; do echo "1 N/A N/A $pid ${type[$pid]} ${program[$pid]} $(mib_of "$pid")MiB"; done)"
    cells "$smi" --id=1 >"$scratch/outside"
    cells in_job red "$smi" >"$scratch/inside"
    # shellcheck disable=SC2086
    sed -E -e "s,^${all}MiB / ${total}MiB\$,${red}MiB / ${limit}MiB," -e 's,^1 (Tesla|N/A N/A),0 \1,' "$scratch/outside" |
        awk '/^[0-9]+% Default$/ { $1 = "0%" } { print }' | only ${own_rows} >"$scratch/wanted"
    compare "$1, table" "$scratch/inside" "$scratch/wanted"
}

compare_xml() { # VERSION
    local smi=$fetched/$1/nvidia-smi gpu='nvidia_smi_log/gpu\[0\]' pid index=0
    elements "$smi" -q -x --id=1 >"$scratch/outside"
    elements in_job red "$smi" -q -x >"$scratch/inside"
    {
        sed -E -e "s,^($gpu/fb_memory_usage/total) .*,\1 $limit MiB," -e "s,^($gpu/fb_memory_usage/reserved) .*,\1 0 MiB," \
            -e "s,^($gpu/fb_memory_usage/used) .*,\1 $red MiB,;s,^($gpu/fb_memory_usage/free) .*,\1 $((limit - red)) MiB," \
            -e "s,^($gpu/utilization/(gpu|memory)_util) .*,\1 0 %," -e 's,^(nvidia_smi_log/attached_gpus) .*,\1 1,' \
            "$scratch/outside" | grep -v /process_info
        for pid in "${red_pids[@]}"; do
            for element in "gpu_instance_id N/A" "compute_instance_id N/A" "pid $pid" "type ${type[$pid]}" "process_name alloc" \
                "used_memory $(mib_of "$pid") MiB"; do
                echo "nvidia_smi_log/gpu[0]/processes/process_info[$index]/$element"
            done
            index=$((index + 1))
        done
    } | sort >"$scratch/wanted"
    sort -o "$scratch/inside" "$scratch/inside"
    compare "$1, -q -x" "$scratch/inside" "$scratch/wanted"
}

compare_queries() { # VERSION
    local smi=$fetched/$1/nvidia-smi pid
    in_job red "$smi" --query-compute-apps=gpu_bus_id,pid,process_name,used_memory --format=csv,noheader >"$scratch/inside"
    for pid in "${red_pids[@]}"; do echo "00000000:2A:00.0, $pid, alloc, $(mib_of "$pid") MiB"; done >"$scratch/wanted"
    compare "$1, --query-compute-apps" "$scratch/inside" "$scratch/wanted"
    in_job red "$smi" --query-gpu=index,name,memory.total,memory.used,memory.free --format=csv,noheader >"$scratch/inside"
    echo "0, Tesla V100-SXM2-16GB, $limit MiB, $red MiB, $((limit - red)) MiB" >"$scratch/wanted"
    compare "$1, --query-gpu" "$scratch/inside" "$scratch/wanted"
}

compare_bindings() { # VERSION OF THE DRIVER
    local module pid
    for module in "$fetched"/tools/*/pynvml.py; do
        [[ -e $module ]] || continue
        in_job red python3 -B "$here/bindings.py" "${module%/*}" >"$scratch/inside" || fail "pynvml in the job"
        {
            echo "0 memory $((limit * mib)) $((red * mib))"
            for pid in "${red_pids[@]}"; do echo "0 compute $pid $(held "$pid" 1)"; done
            for pid in "${red_pids[@]}"; do [[ ${type[$pid]} == C ]] || echo "0 graphics $pid $(held "$pid" 1)"; done
        } >"$scratch/wanted"
        compare "$1, pynvml of $(basename "${module%/*}")" "$scratch/inside" "$scratch/wanted"
    done
}

compare_nvtop() { # VERSION OF THE DRIVER
    local pid
    [[ -x $fetched/tools/nvtop ]] || return 0
    python3 "$here/nvtop.py" nsenter --mount --target "${pids[red]}" "$fetched/tools/nvtop" -C -p >"$scratch/inside" ||
        fail "nvtop in the job: $(cat "$scratch/inside")"
    {
        awk -v used="$red" -v limit=$limit 'BEGIN { printf "memory %.3fGi/%.3fGi\n", used / 1024, limit / 1024 }'
        for pid in "${red_pids[@]}"; do
            echo "$pid Compute $(mib_of "$pid")MiB"
            [[ ${type[$pid]} == C ]] || echo "$pid Graphic $(mib_of "$pid")MiB"
        done
    } >"$scratch/wanted"
    compare "$1, nvtop" "$scratch/inside" "$scratch/wanted"
}

utilization() { # VERSION INDEX COMMAND…: percent of the GPU, as nvidia-smi shows it behind the command
    "${@:3}" "$fetched/$1/nvidia-smi" --id="$2" --query-gpu=utilization.gpu --format=csv,noheader,nounits
}
is_busy() { # VERSION COMMAND…
    (($(utilization "$@") > 50))
}

# Both jobs have a process that draws, too. Red's do nothing.
pair='SIMGPU_PROCESS_TYPE=C+G alloc --mib "$1" --hold >"$0.second" & echo $! >"$0.pid"
    until grep -q ready "$0.second"; do sleep 0.05; done
    exec "${@:2}"'
declare -A type program
for driver in "${drivers[@]}"; do
    version=${driver##*/}
    install_driver "$older/${version%%.*}"
    job other --gpus 0 --mem 1GiB -- burn --forever
    wait_for 20 is_ready other
    job red --gpus 1 --mem ${limit}MiB -- bash -c "$pair" "$scratch/red" 300 alloc --mib 100 --hold
    job blue --gpus 1 --mem 2GiB -- bash -c "$pair" "$scratch/blue" 200 burn --forever
    for name in red blue; do wait_for 20 is_ready "$name"; done
    red_second=$(cat "$scratch/red.pid") blue_second=$(cat "$scratch/blue.pid")
    mapfile -t red_pids < <(printf '%s\n' "${pids[red]}" "$red_second" | sort -n)
    mapfile -t all_pids < <(simgpu ledger --json | jq ".processes[] | select(.alive and .pid != ${pids[other]}).pid" | sort -n)
    type=([${pids[red]}]=C [$red_second]=C+G [${pids[blue]}]=C [$blue_second]=C+G)
    program=([${pids[red]}]=alloc [$red_second]=alloc [${pids[blue]}]=burn [$blue_second]=alloc)
    own_rows="${pids[red]} C $red_second C+G"
    red=$(mib_of "${red_pids[@]}") all=$(mib_of "${all_pids[@]}")
    expect_equal "processes that hold memory" "${#all_pids[@]}" 4
    wait_for 10 eval '[[ $(cgpuctl list --json | jq ".[] | select(.name == \"red\").gpus[0].memory_used_bytes") == $((red * mib)) ]]'

    wait_for 10 is_busy "$version" 1
    wait_for 10 is_busy "$version" 0 in_job blue
    expect_equal "utilisation in the job that does nothing" "$(utilization "$version" 0 in_job red)" 0

    compare_tables "$version"
    compare_xml "$version"
    compare_queries "$version"
    # The bindings need functions that 470 lacks.
    [[ $version == 470.* ]] || compare_bindings "$version"
    compare_nvtop "$version"
    kill -TERM "$red_second" "$blue_second" "${pids[@]}"
    wait_for 10 none_listed
    wait_for 10 nothing_held
done
echo "$compared compared, $differing differ"
expect_equal "what differs" "$differing" 0
