# package.sh LAB…: the package's life on a booted Debian with Docker: installed, upgraded, downgraded and removed, with jobs
# and containers running. The newer version is the same tree under a higher number. CGPU_TEST_PACKAGE=--portable: that of the portable
# build, whichever the older one is.
if [[ ${1-} != inside ]]; then
    tree=$(cd "$(dirname "$0")/../../.." && pwd)
    newer=9.0.0
    mkdir -p "$tree/build/package"
    # shellcheck disable=SC2086 # one word or none
    "$tree/.ci/package" ${CGPU_TEST_PACKAGE-} "$newer" >"$tree/build/package/newer.log" 2>&1 || {
        tail -n 40 "$tree/build/package/newer.log"
        exit 1
    }
    newer_package=$tree/build/${CGPU_TEST_PACKAGE:+portable/}package/cgpu_${newer}_$(dpkg --print-architecture).deb
    exec "$@" --gpus V100:16130MiB --systemd=bare --docker -- bash "$0" inside "$newer" "$newer_package"
fi
newer=$2 newer_package=$3
. "$(dirname "$0")/../docker/lib.sh"
asks=("${four_of_15[@]}")
module=/usr/lib/cgpu/module
older=$(dpkg-deb -f "$CGPU_LAB_PACKAGE" Version)

installed() { dpkg-query -W -f '${db:Status-Status}' cgpu 2>/dev/null; }
is_active() { [[ $(systemctl is-active cgpud) == active ]]; }

# Installed: it runs, and answers without further steps.
expect dpkg -i "$CGPU_LAB_PACKAGE" >"$scratch/install.log"
expect is_active
expect_equal "version" "$(cgpuctl status --json | jq -r .version)" "$older"
expect cgpuctl module verify "$older" >/dev/null
expect cgpuctl set-policy 0 weighted
in_job='burn --forever --kernel-us 1000 & burning=$!; echo $burning >"$0.pid"; echo ready
    until [[ -e $0.go ]]; do sleep 0.05; done
    alloc --mib 100 --until-fail >"$0.alloc"; echo done >>"$0.alloc"; wait $burning'
job old -- bash -c "$in_job" "$scratch/old"
wait_for 20 is_ready old
pids[burning]=$(cat "$scratch/old.pid")
wait_for 20 more_than 0 "${pids[burning]}"
expect cgpuctl runtime configure -q
container box -- burn --forever --kernel-us 1000 --mib 100
wait_for 20 container_is_ready box
jobs=$(cgpuctl list -q)

process() { systemctl show cgpud --property MainPID --value; }
version() { cgpuctl status --json | jq -r .version; }
in_force() { cgpuctl status --json | jq -r .module_version; }
# all_run VERSION: each process has this engine mapped and no other, and cgpuctl shows it for each instance.
all_run() {
    local name
    for name in "${computing[@]}"; do
        expect_equal "engine of $name" "$(grep -o 'libcgpu-engine\.so\.[0-9.]*' "/proc/${pids[$name]}/maps" | sort -u)" \
            "libcgpu-engine.so.$1"
    done
    [[ $(cgpuctl list --no-legend | awk '{ print $(NF - 1) }' | sort -u) == "$1" ]]
}
bytes() {
    local name
    for name in "${computing[@]}"; do echo "$name $(held "${pids[$name]}")"; done
    cgpuctl list --json | jq -c 'sort_by(.id)[] | [.name, .gpus[0].memory_used_bytes]'
}
all_compute() {
    local name
    for name in "${computing[@]}"; do computes "$name"; done
}
as_before() {
    [[ $(bytes) == "$held_before" ]]
}
computing=(burning box)

# Upgraded: cgpud is the new one, the job and the container are the same and compute on with the former module.
before=$(process)
held_before=$(bytes)
expect dpkg -i "$newer_package" >"$scratch/upgrade.log"
expect is_active
expect_equal "cgpud's process" "$(($(process) != before))" 1
expect_equal "version" "$(version)" "$newer"
expect_equal "jobs" "$(cgpuctl list -q)" "$jobs"
expect_equal "policy" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" weighted
for version in "$older" "$newer"; do
    expect test -s "$module/$version/libcgpu-engine.so.$version"
done
expect test ! -e "$module-kept"
expect cgpuctl module verify >/dev/null
all_compute
wait_for 10 all_run "$older"
wait_for 10 as_before
# The newer one is offered.
expect has "$scratch/upgrade.log" "module $older stays in force, and $newer is installed\. Try: cgpuctl upgrade --hot $newer"
expect has <(cgpuctl status) "^cgpud $newer, module $older$"
for verb in status "module list"; do
    # shellcheck disable=SC2086 # verbs are words
    expect has <(cgpuctl $verb) "^module $newer is installed, and $older stays in force\. Try: cgpuctl upgrade --hot $newer"
done
# A new process in the old job: the former fronts and engine, the limit the same. A new job: new fronts, the former engine.
touch "$scratch/old.go"
wait_for 20 has "$scratch/old.alloc" '^done'
expect_equal "an allocation too much" "$(fact "$scratch/old.alloc" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_between "MiB allocated below the limit" "$(fact "$scratch/old.alloc" allocated_mib)" 3600 4301
job new -- burn --forever --kernel-us 1000
wait_for 20 is_ready new
computing+=(new)
all_compute
wait_for 10 all_run "$older"

# All processes change, and no call fails.
held_before=$(bytes)
expect cgpuctl upgrade --hot "$newer" -q
expect all_run "$newer"
expect_equal "bytes after the upgrade" "$(bytes)" "$held_before"
expect_equal "in force" "$(in_force)" "$newer"
expect_equal "offers" "$(cgpuctl status | grep -c 'is installed, and')" 0
all_compute

# An older package is refused if its cgpud couldn't read the files on the node, which a newer release wrote or one that is too
# old: nothing is stopped.
older_is_refused() { # WHY
    local before
    before=$(process)
    expect_error "^cgpu: $older is not installed: $1.*Nothing was stopped or changed\. Try: " dpkg -i "$CGPU_LAB_PACKAGE"
    expect_equal "cgpud's process" "$(process)" "$before"
    expect_equal "version" "$(version) $(dpkg-query -W -f '${Version} ${db:Status-Status}' cgpu)" "$newer $newer installed"
    all_compute
    expect all_run "$newer"
    expect test ! -e "$module-kept"
}
# refused_with FILE FILTER WHY: while the file contains that.
refused_with() {
    cp "$1" "$scratch/kept"
    jq "$2" "$scratch/kept" >"$1"
    older_is_refused "$3"
    cat "$scratch/kept" >"$1"
}
state=/var/lib/cgpu/state.json leases=/run/cgpu/leases
refused_with $state '.version = 99' "$state is of version 99, and its cgpud reads versions up to [0-9]+"
refused_with $state '.version = 1' "$state is of version 1, and its cgpud reads versions from [0-9]+ on"
manifest=$module/$newer/manifest.json
refused_with "$manifest" '.abi = 99' "module $newer is in force, and its release doesn't know the ABI of its engine"
refused_with "$manifest" '.abi = 1' "module $newer is in force, and its release doesn't know the ABI of its engine"
refused_with "$manifest" '.pages = 99' "module $newer is in force, and its release doesn't know its pages"
refused_with "$manifest" ".least_front = \"$newer\"" "module $newer is in force, and its release doesn't know the fronts"
refused_with "$manifest" '.link = 99' "jobs run that may speak version 98 of the link at least"
refused_with "$manifest" '.link = 1' "jobs run that speak version 1 of the link at most, and its cgpud speaks versions from [0-9]+ on"
# cgpud has it mapped, so it is written in place.
leases_of_version() {
    printf '%b' "\\x$1" | dd of=$leases bs=1 seek=8 conv=notrunc status=none
}
known=$(od -An -t u1 -j 8 -N 1 $leases)
leases_of_version 63
older_is_refused "$leases is of version 99, and its cgpud reads versions up to [0-9]+"
leases_of_version 01
older_is_refused "$leases is of version 1, and its cgpud reads versions from [0-9]+ on"
leases_of_version "0$((known))"

# Otherwise the package is downgraded; the newer module stays in force until an administrator moves the node.
expect dpkg -i "$CGPU_LAB_PACKAGE" >"$scratch/downgrade.log" 2>&1
expect is_active
expect_equal "version" "$(version)" "$older"
expect_equal "in force" "$(in_force)" "$newer"
expect has "$scratch/downgrade.log" "module $newer stays in force, and $older is installed\. Try: cgpuctl upgrade --hot $older"
wait_for 10 all_run "$newer"
all_compute
asks=(CGPU_MEM=1GiB)
job back -- burn --forever --kernel-us 1000
asks=("${four_of_15[@]}")
wait_for 20 is_ready back
computing+=(back)
wait_for 10 all_run "$newer"
held_before=$(bytes)
expect cgpuctl upgrade --hot "$older" -q
expect all_run "$older"
expect_equal "bytes after the upgrade back" "$(bytes)" "$held_before"
all_compute
end_job back
expect docker rm -f box >/dev/null

# Removed: not while jobs run; after the refusal everything is as before.
jobs=$(cgpuctl list -q)
expect_error 'jobs still run.*' dpkg -r cgpu
expect grep -q "  ${jobs:0:12}" <<<"$said"
expect_equal "the package" "$(installed)" installed
wait_for 10 is_active
computes burning
computes new
kill -TERM "${pids[burning]}"
wait "${pids[old]}"
end_job new
wait_for 5 none_listed

# Docker's default runtime is cgpu's, and one such container runs: that also keeps the package.
docker_says() { docker info 2>/dev/null | grep -qE "^ *$1\$"; }
expect cgpuctl runtime configure --default
wait_for 10 docker_says 'Default Runtime: cgpu'
expect cgpuctl swarm configure -q
expect docker run -d --name train -e "${four_of_15[0]}" -e "${four_of_15[1]}" lab burn --forever >"$scratch/train.id"
expect_error "  $(cat "$scratch/train.id")" dpkg -r cgpu
expect docker rm -f train >/dev/null
wait_for 5 none_listed
expect dpkg -r cgpu >"$scratch/remove.log"
wait_for 10 docker_says 'Default Runtime: runc'
expect_equal "a container afterwards" "$(docker run --rm lab echo here)" here
expect_equal "runtimes and resources of daemon.json" "$(jq -c '[.runtimes, .["node-generic-resources"]]' /etc/docker/daemon.json)" '[null,null]'
is_active && fail "cgpud runs without its package"
expect_error 'not found|not provided|activat' busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindGpu s 0
expect test ! -e /usr/lib/cgpu -a ! -e /usr/bin/cgpuctl -a ! -e /usr/share/dbus-1/system-services/org.cgpu1.service
expect test -s $state
# Leftovers of a newer release that was removed count, too.
cp $state "$scratch/kept"
jq '.version = 99' "$scratch/kept" >$state
expect_error "^cgpu: $older is not installed: $state is of version 99" dpkg -i "$CGPU_LAB_PACKAGE"
cat "$scratch/kept" >$state

# Installed again, it knows its policy; forced away, it leaves a job computing; purged, nothing is left.
expect dpkg -i "$CGPU_LAB_PACKAGE" >"$scratch/install.log"
expect_equal "policy" "$(cgpuctl status --json | jq -r '.gpus[0].policy_name')" weighted
job last -- burn --forever --kernel-us 1000
wait_for 20 is_ready last
systemctl stop cgpud
expect_error 'jobs still run' dpkg -r cgpu
expect env CGPU_FORCE_REMOVE=1 dpkg -r cgpu >"$scratch/remove.log"
computes last
end_job last
expect dpkg -P cgpu >"$scratch/purge.log"
expect_equal "the package" "$(installed)" ''
for place in /var/lib/cgpu /run/cgpu /etc/cgpu /usr/lib/cgpu; do
    expect test ! -e "$place"
done
wait_for 5 nothing_held
