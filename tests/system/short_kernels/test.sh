# What short kernels are charged on a GPU that waits for each of them: what the ledger says they took. The driver's events around
# such a kernel show what the launch call takes, too, and that isn't charged; no kind of program gets GPU time for nothing by that.
. "$(dirname "$0")/../lib.sh"
asks=(ALIYUN_COM_GPU_MEM_CONTAINER=4 ALIYUN_COM_GPU_MEM_DEV=80)
expect cgpuctl set-policy 0 weighted
charged_ns_of() { cgpuctl show "$1" --json | jq '.gpus[0].gpu_time_seconds * 1e9 | round'; }

# read_figures: what is charged is read before and after what the ledger says, because both grow meanwhile.
read_figures() { # BEFORE SERVED AFTER, in ns: sets them
    declare -g "$1=$(charged_ns_of charged)" "$2=$(gpu_ns "${pids[charged]}")" "$3=$(charged_ns_of charged)"
}

# is_charged LEAST MOST OPTION…: burn with these options is charged so many per cent of what the ledger says. A thread that is
# interrupted between the start event and its launch is charged for that, too; so some seconds of a busy machine may cost more,
# but none less.
is_charged() {
    local least=$1 most=$2 tries
    shift 2
    job charged -- burn --forever "$@"
    wait_for 20 is_ready charged
    sleep 1 # in which the engine learns how long the kernels are
    for tries in {1..6}; do
        read_figures before served after
        sleep 2
        read_figures before_end served_end after_end
        local took=$((served_end - served))
        local low=$(((before_end - after) * 1000 / took)) high=$(((after_end - before) * 1000 / took))
        echo "burn $*: served $((took / 1000)) us, charged $low to $high of 1000"
        expect_between "thousandths charged to burn $*, at most" $high $((least * 10)) 100000
        ((low > most * 10)) || break
    done
    expect_between "thousandths charged to burn $*, at least, in try $tries" $low 0 $((most * 10))
    end_job charged
}

echo "each one waited for"
is_charged 97 105 --kernel-us 20 --sync-every 1
is_charged 97 105 --kernel-us 100 --sync-every 1
echo "one now and then"
is_charged 95 106 --kernel-us 20 --pace-us 100
echo "from several threads: into a stream of each, and all into one"
is_charged 97 200 --kernel-us 20 --sync-every 1 --threads 2
is_charged 97 200 --kernel-us 20 --sync-every 1 --threads 2 --one-stream
is_charged 97 200 --kernel-us 20 --sync-every 4 --streams 2
echo "graphs, and as many as go"
is_charged 97 200 --kernel-us 20 --graph 3 --sync-every 1
is_charged 97 103 --kernel-us 20
is_charged 97 103 --kernel-us 1000
