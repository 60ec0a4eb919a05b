# Writes the screens of cgpu-smi, cgpuctl inspect and cgpuctl report into docs/cgpuctl.md, and the plot of report into
# docs/pictures/report.svg, from a node with three tenants under load:
#   tests/lab --gpus 'V100:16130MiB*2' -- bash tests/system/report/pictures.sh
if [[ ${1-} != inside ]]; then
    exec unshare --uts bash -c 'echo gpu-node-1 >/proc/sys/kernel/hostname && exec bash "$0" inside' "$0"
fi
. "$(dirname "$0")/../lib.sh"
docs=$(cd "$(dirname "$0")/../../../docs" && pwd)
asks=("${four_of_15[@]}")
mkdir -p /etc/cgpu "$docs/pictures"
printf 'history_interval_s: 1\n' >/etc/cgpu/cgpud.yaml
expect lab-restart-cgpud

# write NAME COMMAND…: what the commands print, each after a line with itself, between the marks of this name.
write() {
    local name=$1
    shift
    {
        printf '```\n'
        for command; do
            printf '$ %s\n' "$command"
            $command || fail "$command"
        done
        printf '```\n'
    } >"$scratch/$name"
    sed -i -e "/<!-- written by tests.system.report.pictures.sh: $name -->/,/<!-- end of the screen -->/ {
        /<!-- written by/r $scratch/$name
        /<!--/!d
    }" "$docs/cgpuctl.md"
}

expect cgpuctl set-policy 0 weighted
job train --gpus 0 --weight 2 -- burn --forever --kernel-us 1000 --mib 3000
# It has requests for 4 of 6 seconds.
job web --gpus 0 --weight 1 -- sh -c 'trap "exit 0" TERM; alloc --mib 500 >/dev/null; echo ready
    while :; do burn --seconds 4 --kernel-us 1000 >/dev/null; sleep 2; done'
wait_for 20 is_ready train
sleep 15
job notebook --gpus 1 -- sh -c 'trap "exit 0" TERM; echo ready
    while :; do burn --seconds 3 --kernel-us 4000 --mib 300 >/dev/null; sleep 5; done'
wait_for 20 is_ready notebook
sleep 11
write smi cgpu-smi
write inspect 'cgpuctl inspect' 'cgpuctl inspect -d'
end_job train
sleep 8
kill -TERM "${pids[web]}" "${pids[notebook]}"
wait_for 10 none_listed
write report 'cgpuctl report' 'cgpuctl report --by gpu'
expect cgpuctl report --svg "$docs/pictures/report.svg" >/dev/null
