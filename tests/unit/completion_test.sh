#!/usr/bin/env bash
# completion_test.sh SOURCE_FOLDER BUILD_FOLDER: bash completes the verbs of cgpuctl, as far as no cgpud is needed for that, and
# the options and fields of cgpu-smi.
set -u
source=$1
export PATH=$2/client/cgpuctl:$PATH
. "$source/client/cgpuctl/completion/cgpuctl.bash"
. "$source/client/cgpuctl/completion/cgpu-smi.bash"

# completed WORD…: what the last word is completed to, on one line.
completed() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    if [[ $1 == cgpu-smi ]]; then _cgpu_smi "$1"; else _cgpuctl "$1"; fi
    echo "${COMPREPLY[*]}"
}
expect() { # WANTED WORD…
    local wanted=$1 got
    shift
    got=$(completed "$@")
    [[ $got == "$wanted" ]] || { echo "$* is completed to '$got', expected '$wanted'" && exit 1; }
}

expect 'set-max-inst set-memory set-mode' cgpuctl set-m
expect '--persist' cgpuctl set-memory web 4GiB --p
expect '--query-gpu --query-instance' cgpu-smi --q
expect 'memory.total' cgpu-smi --query-gpu = memory.t
expect 'index,memory.used' cgpu-smi --query-gpu = index,memory.u
expect 'compute.limit compute.longest_kernel' cgpu-smi --query-instance = compute.l
expect 'csv,noheader csv,nounits' cgpu-smi --format = csv,no
