#!/usr/bin/env bash
# completion_test.sh SOURCE_FOLDER BUILD_FOLDER: bash completes every verb of cgpuctl's table, the options of a verb, and the
# fields of cgpu-smi.
set -u
source=$1
export PATH=$2/client/cgpuctl:$PATH
. "$source/client/cgpuctl/completion.bash"

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

verbs=$(sed -nE 's/^        \{"([a-z][a-z-]*)",$/\1/p' "$source/client/cgpuctl/verb_table.cpp")
[[ $(wc -w <<<"$verbs") -ge 17 ]] || { echo "only these verbs were found in the table: $verbs" && exit 1; }
expect "${verbs//$'\n'/ }" cgpuctl ''
expect 'set-max-inst set-memory set-mode' cgpuctl set-m
expect '--persist' cgpuctl set-memory web --p
expect '--details' cgpuctl inspect --d
expect '' cgpuctl run -- --p
expect '--query-gpu --query-instance' cgpu-smi --q
expect 'memory.total' cgpu-smi --query-gpu = memory.t
expect 'index,memory.used' cgpu-smi --query-gpu = index,memory.u
expect 'compute.limit compute.longest_kernel' cgpu-smi --query-instance = compute.l
expect 'csv,noheader csv,nounits' cgpu-smi --format = csv,no
echo "$(wc -w <<<"$verbs") verbs"
