# Root's Podman on a booted Debian, with each of its low-level runtimes: control groups of version 2, which systemd makes at Podman's
# request. Two containers get their limits and shares, the cases of the container suite that concern control groups hold, and a
# service of quadlet (docs/containers.md) gets its part, where that Podman has quadlet.
. "$(dirname "${BASH_SOURCE[0]}")/../podman/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../containers/words.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../containers/cases.sh"

# With Podman's own choice of how control groups are made.
podman_runtime=cgpu
run_podman() { podman --runtime $podman_runtime "$@"; }
service_is_ready() { run_podman logs worker 2>/dev/null | grep -q '^ready'; }

mkdir -p /etc/containers
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >/etc/containers/policy.json
# The simplest storage, which needs no support of the node's file system.
printf '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/var/lib/containers/storage"\n' >/etc/containers/storage.conf
# A node's control groups have no limit of processes.
printf '[containers]\npids_limit = 0\n' >/etc/containers/containers.conf
expect cgpuctl runtime configure --for podman >/dev/null
# Podman 3.0 doesn't look into the folder where that writes (docs/containers.md).
[[ $(podman --version) != *' 3.0.'* ]] || podman_runtime=/usr/bin/cgpu-runtime
expect docker save -o "$scratch/lab.tar" lab
expect podman load -q -i "$scratch/lab.tar" >/dev/null
# This is what is tried here.
expect_equal "Podman's control groups" "$(podman info -f json | jq -r '.host | .cgroupManager + " " + .cgroupVersion')" 'systemd v2'

declare -A modes=([runc]=legacy [crun]=cdi)
tried=()
for runtime in runc crun; do
    command -v $runtime >/dev/null || continue
    # For the filter of devices, which is a program of BPF there.
    if [[ $runtime == crun ]] && ! (ulimit -l unlimited) 2>/dev/null; then
        echo "crun: NOT TRIED, it locks memory without a limit on control groups of version 2, and this machine doesn't let it"
        continue
    fi
    tried+=("$runtime")
    echo "== $(podman --version), $($runtime --version | head -n 1)"
    use podman $runtime ${modes[$runtime]}
    asks=("${four_of_15[@]}")

    echo "Limits and shares."
    container red -e CGPU_WEIGHT=1 -- burn --forever
    container blue -e CGPU_WEIGHT=2 -- burn --forever
    for name in red blue; do
        wait_for 20 container_is_ready $name
        expect_total "$limit_of_four" engine exec $name info
        expect grep -q 'libpod' "/proc/${pids[$name]}/cgroup"
    done
    expect_error 'result 2 CUDA_ERROR_OUT_OF_MEMORY' engine exec red alloc --mib 4302
    expect cgpuctl set-policy 0 weighted
    sleep 0.5 # what was in flight under the policy before
    expect_shares 5 3 red=33.33 blue=66.67
    expect cgpuctl set-policy 0 proportional
    expect systemctl restart cgpud
    computes red
    computes blue
    gone red blue

    for case in run exec_in_it users pause restart kill; do
        echo "The case $case."
        asks=("${four_of_15[@]}")
        "case_$case"
    done
done
((${#tried[@]})) || fail "neither runc nor crun is there"

# docs/containers.md: the example, under systemd.
if [[ -x /usr/libexec/podman/quadlet ]]; then
    echo "A service of quadlet."
    mkdir -p /etc/containers/systemd
    awk '/^### Quadlet/ { here = 1 } here && /^```/ { if (++fence == 2) exit; next } fence == 1' "$top/docs/containers.md" |
        sed 's/^Image=IMAGE/Image=lab\nExec=alloc --mib 100 --hold\nContainerName=worker\nNetwork=none/' \
            >/etc/containers/systemd/worker.container
    expect grep -q 'CGPU_MEM=4GiB' /etc/containers/systemd/worker.container
    expect systemctl daemon-reload
    systemctl start worker || fail "the service: $(journalctl -u worker --no-pager -o cat | tail -n 20)"
    wait_for 20 service_is_ready
    expect_equal "its instance" "$(cgpuctl list --json | jq -c '.[] | [.name, .gpus[0].memory_limit_bytes, .gpus[0].asked_share]')" \
        "[\"worker\",$((4 << 30)),0.25]"
    expect systemctl restart worker
    wait_for 20 service_is_ready
    expect_equal "instances" "$(cgpuctl list -q | wc -l)" 1
    expect systemctl stop worker
    wait_for 10 none_listed
    wait_for 10 nothing_held
else
    echo "quadlet: NOT TRIED, this Podman has none"
fi
expect cgpuctl runtime configure --for podman --remove >/dev/null
echo "Podman holds with ${tried[*]}"
