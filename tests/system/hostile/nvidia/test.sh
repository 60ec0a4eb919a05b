#!/usr/bin/env bash
# What a container finally gets, in each mode of NVIDIA's toolkit and by each way that leads it to GPUs (toolkit.py decides as the
# toolkit does): under `unmanaged: refuse` nothing starts with a GPU, under `allow` and `whole` what starts with one is listed
# and booked, and a managed container has the nodes of its own GPUs and may open no others. The kernel is asked, in the
# container. A node with two GPUs.
. "$(dirname "${BASH_SOURCE[0]}")/../../docker/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
volumes=/var/run/nvidia-container-devices
mapfile -t uuids < <(cgpuctl status --json | jq -r '.gpus[].uuid')

# --- the node: NVIDIA's nodes and toolkit, and a root for containers
printf '%s\n' "${uuids[@]}" >/run/nvidia-gpus
for device in nvidia0:0 nvidia1:1 nvidiactl:255; do
    [[ -e /dev/${device%:*} ]] || mknod -m 666 "/dev/${device%:*}" c 195 "${device#*:}" || skip "device nodes can't be made here"
done
rm -f /usr/bin/nvidia-container-runtime
printf '#!/bin/sh\nexec /usr/bin/nvidia-toolkit "$@"\n' >/usr/bin/nvidia-container-runtime
printf '#!/bin/sh\nexec /usr/bin/nvidia-toolkit hook nvidia-container-runtime-hook\n' >/usr/bin/nvidia-container-runtime-hook
chmod 755 /usr/bin/nvidia-container-runtime{,-hook}
cp "$here/toolkit.py" /usr/bin/nvidia-toolkit && chmod 755 /usr/bin/nvidia-toolkit || fail "no toolkit"
root=$CGPU_LAB/root bundle=$CGPU_LAB/bundle
mkdir -p "$root" "$bundle" "$CGPU_LAB/layers" && docker export "$(docker create lab)" | tar -x -C "$root" || fail "no root"
mkdir -p "$root/var/run/nvidia-container-devices"
mount -t tmpfs tmpfs "$CGPU_LAB/layers"
(cd "$bundle" && runc spec) || fail "no bundle"
# As Docker makes them: a user, CAP_MKNOD, a cgroup of its own, no devices but the usual ones.
jq --arg id "cgpu-bundle" '.root = {path: "merged"} | .process.terminal = false | .process.args = ["/bin/sleep", "1000"] | .process.capabilities[] += ["CAP_MKNOD", "CAP_DAC_OVERRIDE"] |
    .linux.namespaces |= map(select(.type != "network" and .type != "cgroup")) | .mounts |= map(select(.type != "cgroup"))' \
    "$bundle/config.json" >"$scratch/plain.json" || fail "no bundle"

mode() { # MODE [RUNTIME]
    mkdir -p /etc/nvidia-container-runtime
    cat >/etc/nvidia-container-runtime/config.toml <<TEXT
accept-nvidia-visible-devices-as-volume-mounts = true
swarm-resource = "DOCKER_RESOURCE_GPU,TEAM_GPUS"
mode = "$1"
runtimes = ["${2-runc}"]
annotation-prefixes = ["cdi.k8s.io/", "team/"]
TEXT
}
rule() {
    mkdir -p /etc/cgpu/cgpud.yaml.d
    echo "unmanaged: $1" >/etc/cgpu/cgpud.yaml.d/u.yaml
    expect lab-restart-cgpud
}

# create WAY…: a container that asks by these; its error is in $said. A way is NAME=VALUE in the environment, a volume
# (@NAME), an annotation (+KEY=VALUE), a rule of the device cgroup (%TYPE:MAJOR:MINOR), a mount (^SOURCE:DESTINATION).
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
create() {
    rm -rf "$CGPU_LAB/layers/"* && mkdir -p "$CGPU_LAB/layers"/{up,work} "$bundle/merged"
    mount -t overlay overlay -o "lowerdir=$root,upperdir=$CGPU_LAB/layers/up,workdir=$CGPU_LAB/layers/work" "$bundle/merged" || fail "no root"
    jq --arg volumes "$volumes" '
        def numbers: split(":") | {type: .[0], major: (.[1] | tonumber), minor: (.[2] | tonumber)} | if .major < 0 then del(.major) else . end | if .minor < 0 then del(.minor) else . end;
        reduce $ARGS.positional[] as $way (.;
        if $way | startswith("@") then .mounts += [{source: "/dev/null", destination: ($volumes + "/" + $way[1:]), type: "bind", options: ["rbind"]}]
        elif $way | startswith("+") then .annotations[($way[1:] | split("=")[0])] = ($way | split("=")[1:] | join("="))
        elif $way | startswith("%") then .linux.resources.devices += [$way[1:] | numbers + {allow: true, access: "rwm"}]
        elif $way | startswith("^") then .mounts += [{source: ($way[1:] | split(":")[0]), destination: ($way | split(":")[1]), type: "bind", options: ["rbind"]}]
        else .process.env += [$way] end)' --args "$@" <"$scratch/plain.json" >"$bundle/config.json" || fail "no config.json"
    # A container's process keeps the stdout that it gets.
    cgpu-runtime --log "$scratch/log.json" --log-format json create --bundle "$bundle" --pid-file "$scratch/pid" "$id" >"$scratch/created" 2>&1 </dev/null
    local status=$?
    said=$(cat "$scratch/created" "$scratch/log.json" 2>/dev/null)
    return $status
}
delete() {
    runc delete --force "$id" >/dev/null 2>&1
    umount -l "$bundle/merged"
    rm -f "$scratch/log.json"
    wait_for 10 nothing_is_listed
}
nothing_is_listed() { [[ -z $(cgpuctl list --no-legend) ]]; }
# What it has, as words: open=N for each GPU that the kernel lets it open by a node of its own making, node=N for each node
# below /dev, driver.
looks() {
    runc exec "$id" /bin/sh -c 'mkdir -p /n
        for i in 0 1; do mknod /n/$i c 195 $i 2>/dev/null; (: </n/$i) 2>&1 | grep -q "such device" && echo open=$i; done
        ls -l /dev | sed -nE "s/^c.* 195, +([01]) .*/node=\1/p" | sort -u
        info 2>/dev/null | grep -q total_mem && echo driver' | tr '\n' ' '
}
known() { cgpuctl list --json | jq -r '[.[] | (if .managed then "managed" else "unmanaged" end), (.gpus[].index | tostring)] | join(" ")'; }

refused=0 listed=0 limited=0
# These give GPU 1, by rights and tricks. All of them are tried in two modes, and some in each mode.
declare -A ways=(
    [variable]=NVIDIA_VISIBLE_DEVICES=1 [volume]=@1 [uuid]="@${uuids[1]}" [cdi-volume]=@cdi/nvidia.com/gpu/1
    [both]="@1 NVIDIA_VISIBLE_DEVICES=$volumes" [contradiction]="@1 NVIDIA_VISIBLE_DEVICES=0" [swarm]=DOCKER_RESOURCE_GPU=1
    [other-swarm]=TEAM_GPUS=1 [annotation]=+team/gpus=nvidia.com/gpu=1
    [all]=@all [legacy-image]=CUDA_VERSION=8.0.61 [empty-require]="CUDA_VERSION=8.0.61 NVIDIA_REQUIRE_CUDA="
    [rule]=%c:195:1 [rules]=%c:195:-1 [every]=%c:-1:-1 [other-name]=^/dev/nvidia1:/tmp/a
)
some=(volume cdi-volume contradiction swarm annotation legacy-image)
# try_all FUNCTION ARGUMENT…: with the mode and the way after its arguments
try_all() {
    local m way
    for m in cdi jit-cdi auto legacy; do
        mode "$m"
        local these=("${some[@]}")
        [[ $m != cdi && $m != legacy ]] || these=("${!ways[@]}")
        for way in "${these[@]}"; do "$@" "$m" "$way"; done
    done
}
# In which modes the toolkit takes no notice, or doesn't know the name.
takes_no_part() { [[ $1 == legacy && $2 == cdi-volume || $1 != cdi && $1 != auto && $2 == annotation || $1 == jit-cdi && $2 == cdi-volume ]]; }

try_refuse() { # MODE WAY
    if create ${ways[$2]}; then
        expect_equal "what it has, refuse, $1, $2" "$(looks)" ""
        takes_no_part "$1" "$2" || fail "refuse, $1, $2: it started"
    elif ! takes_no_part "$1" "$2"; then
        grep -qE 'cgpu: container .*: it gets a GPU and asks for no part of one.* \(unmanaged: refuse\). Try: ' <<<"$said" || fail "refuse, $1, $2: $said"
        ((refused += 1))
    fi
    delete
}
try_listed() { # RULE MODE WAY
    if create ${ways[$3]}; then
        if [[ $(looks) ]]; then
            grep -qx 'unmanaged.*1' <<<"$(known)" || fail "$1, $2, $3: listed as $(known), has $(looks)"
            [[ $1 != whole ]] || expect_error '1GiB on GPU 1 .* (has the whole GPU|serves 1 instance in mode none)' cgpuctl run --mem 1GiB --gpus 1 -- true
            ((listed += 1))
        else
            takes_no_part "$2" "$3" || fail "$1, $2, $3: it has no GPU"
        fi
    else
        # What the toolkit doesn't know, and what gets others than it has booked.
        [[ $1 == whole && $3 == contradiction ]] && grep -q 'cgpu: .*which it has booked' <<<"$said" || takes_no_part "$2" "$3" || fail "$1, $2, $3: $said"
    fi
    delete
}
try_managed() { # MODE WAY
    if create CGPU_MEM=4GiB CGPU_GPUS=0 ${ways[$2]}; then
        expect_equal "known, managed, $1, $2" "$(known)" "managed 0"
        expect_equal "what it has, managed, $1, $2" "$(looks)" "open=0 node=0 driver "
        ((limited += 1))
    else
        grep -qE 'cgpu: .*Try: ' <<<"$said" || takes_no_part "$1" "$2" || fail "managed, $1, $2: $said"
    fi
    delete
}

rule refuse
try_all try_refuse
for m in cdi legacy; do
    mode "$m"
    for plain in PATH=/bin "CUDA_VERSION=12.0 NVIDIA_REQUIRE_CUDA=cuda>=12.0" NVIDIA_VISIBLE_DEVICES=void NVIDIA_VISIBLE_DEVICES=0,void; do
        create $plain || fail "refuse, $m, $plain: $said"
        expect_equal "what it has, $m, $plain" "$(looks)" ""
        delete
    done
done
for m in jit-cdi legacy; do
    mode "$m"
    expect_error 'cgpu: container .* \(unmanaged: refuse\). Try: ' docker run --rm --network none --runtime=cgpu -e CUDA_VERSION=8.0.61 lab true
done
echo "refused: $refused, after $SECONDS s"
expect test "$refused" -ge 36
try_all try_managed
echo "limited: $limited, after $SECONDS s"
expect test "$limited" -ge 30
echo "NVIDIA's low-level runtime is named by a path: nobody calls cgpu-runtime a second time."
for m in cdi legacy; do
    mode "$m" "$(command -v runc)"
    for way in legacy-image volume swarm; do
        try_refuse "$m" "$way"
        try_managed "$m" "$way"
    done
done
echo "A hook of NVIDIA's in the bundle before a plain runtime."
ln -sfn "$(command -v runc)" /etc/cgpu/next-runtime
mode legacy
jq '.hooks.prestart = [{path: "/usr/bin/nvidia-container-runtime-hook", args: ["any", "prestart"]}]' "$scratch/plain.json" >"$scratch/hook.json" &&
    mv "$scratch/hook.json" "$scratch/plain.json" || fail "no bundle"
for way in legacy-image volume; do
    try_refuse hook "$way"
    try_managed hook "$way"
done
rm /etc/cgpu/next-runtime
jq 'del(.hooks)' "$scratch/plain.json" >"$scratch/hook.json" && mv "$scratch/hook.json" "$scratch/plain.json" || fail "no bundle"
rule allow
for m in cdi auto legacy; do
    mode "$m"
    for way in "${some[@]}" other-swarm rules; do try_listed allow "$m" "$way"; done
done
rule whole
for m in jit-cdi legacy; do
    mode "$m"
    for way in legacy-image volume contradiction rules; do try_listed whole "$m" "$way"; done
done
echo "listed: $listed, after $SECONDS s"
expect test "$listed" -ge 24
