# cgpuctl doctor: a good node is green; each thing that is broken is found, with what mends it, and the node is green again
# when that was done.
. "$(dirname "$0")/../lib.sh"

# green: no problem and no warning; nothing is left unchecked.
green() {
    cgpuctl doctor --json >"$scratch/doctor.out" 2>"$scratch/doctor.err"
    jq -e '.problems + .warnings + .not_checked == 0' "$scratch/doctor.out" >/dev/null
}
expect_green() {
    green || fail "the node is not green after $1: $(jq -c '.findings[] | select(.level != "ok")' "$scratch/doctor.out")"
}
# finds CHECK LEVEL WHAT FIX: a finding of this check and level whose texts match these regular expressions.
finds() {
    cgpuctl doctor --json >"$scratch/doctor.out" 2>"$scratch/doctor.err"
    jq -e --arg check "$1" --arg level "$2" --arg what "$3" --arg fix "$4" '.findings | any(.check == $check and
        .level == $level and (.what | test($what)) and (.why | length > 0) and (.fix | test($fix)))' "$scratch/doctor.out" >/dev/null
}
# expect_found CHECK LEVEL WHAT FIX: also, the exit status tells whether it is a problem.
expect_found() {
    finds "$@" || fail "not found: $*: $(jq -c '.findings[] | select(.level != "ok")' "$scratch/doctor.out")"
    cgpuctl doctor >"$scratch/doctor.txt" 2>"$scratch/doctor.err"
    expect_equal "exit status with: $1" $? "$([[ $2 == problem ]] && echo 1 || echo 0)"
    expect has "$scratch/doctor.txt" "^$2 +$1 "
    expect has "$scratch/doctor.txt" "^ +try: .*$4"
}

echo "A good node is green, for root and without a question for others."
expect_green "the start"
expect cgpuctl doctor -q >"$scratch/quiet.out"
expect_equal "what -q prints" "$(cat "$scratch/quiet.out")" ''
expect setpriv --reuid 65534 --regid 65534 --clear-groups cgpuctl doctor --json >"$scratch/other.out"
expect_equal "what another user sees" "$(jq -c '[.problems, .warnings, (.not_checked > 0)]' "$scratch/other.out")" '[0,0,true]'
expect jq -e '.findings | map(select(.level == "not_checked").fix) | all(test("as root"))' "$scratch/other.out" >/dev/null

echo "cgpud that is not running."
(. "$CGPU_LAB/cgpud.sh" && stop_cgpud TERM)
expect_found cgpud problem 'it is not running' 'systemctl start cgpud'
expect_equal "GPUs without cgpud" "$(jq -r '.findings[] | select(.check == "GPUs").level' "$scratch/doctor.out")" not_checked
expect lab-restart-cgpud
expect_green "the start of cgpud"

echo "NVIDIA's runtime that calls its low-level runtime by a path."
cp /bin/true /usr/bin/runc # the machine may have none
mkdir -p /etc/nvidia-container-runtime
printf '[nvidia-container-runtime]\nruntimes = ["/usr/bin/runc", "crun"]\n' >/etc/nvidia-container-runtime/config.toml
expect_found "NVIDIA's runtime" problem '/usr/bin/runc by a path' 'runtimes = ."runc", "crun".'
printf '[nvidia-container-runtime]\nruntimes = ["runc", "crun"]\n' >/etc/nvidia-container-runtime/config.toml
expect_green "a runtime by name"

echo "Docker: not registered, a path that is not there, a default that is none."
mkdir -p /etc/docker
echo '{}' >/etc/docker/daemon.json
expect_found Docker warning 'has no runtime cgpu' 'cgpuctl runtime configure'
echo '{"runtimes": {"cgpu": {"path": "/opt/cgpu-runtime"}}}' >/etc/docker/daemon.json
expect_found Docker problem 'is /opt/cgpu-runtime, which does not exist' 'cgpuctl runtime configure'
expect /usr/bin/cgpuctl runtime configure -q
expect_green "cgpuctl runtime configure"
jq '."default-runtime" = "nvidia"' /etc/docker/daemon.json >"$scratch/daemon.json" && cp "$scratch/daemon.json" /etc/docker/daemon.json
expect_found Docker problem 'default-runtime nvidia is none' 'cgpuctl runtime configure --default'
expect /usr/bin/cgpuctl runtime configure --default -q
expect_green "cgpuctl runtime configure --default"

echo "What is announced to Docker Swarm, and what the GPUs have."
expect cgpuctl swarm configure -q
expect_green "cgpuctl swarm configure"
expect cgpuctl set-max-inst 1 10 -q
expect_found 'Docker Swarm' warning 'cgpu_instances=40, and the GPUs have .* cgpu_instances=30' 'cgpuctl swarm configure, and then '
expect cgpuctl swarm configure -q
expect_green "the second cgpuctl swarm configure"
jq 'del(."default-runtime")' /etc/docker/daemon.json >"$scratch/daemon.json" && cp "$scratch/daemon.json" /etc/docker/daemon.json
expect_found 'Docker Swarm' warning 'its default-runtime is not' 'cgpuctl runtime configure --default'
expect /usr/bin/cgpuctl runtime configure --default -q
jq '."live-restore" = true' /etc/docker/daemon.json >"$scratch/daemon.json" && cp "$scratch/daemon.json" /etc/docker/daemon.json
expect_found 'Docker Swarm' warning 'has live-restore' 'remove live-restore'
jq 'del(."live-restore")' /etc/docker/daemon.json >"$scratch/daemon.json" && cp "$scratch/daemon.json" /etc/docker/daemon.json
expect_green "the end of live-restore"

echo "Podman's file."
cp /bin/true /usr/bin/podman
mkdir -p /etc/containers
printf '[engine.runtimes]\ncgpu = ["/opt/cgpu-runtime"]\n' >/etc/containers/containers.conf
expect_found Podman problem 'is /opt/cgpu-runtime, which does not exist' 'engine.runtimes'
printf '[engine.runtimes]\ncgpu = ["/usr/bin/cgpu-runtime"]\n' >/etc/containers/containers.conf
expect_green "the right path"

echo "A CDI specification of a former driver."
mkdir -p /etc/cdi
printf 'containerEdits:\n  mounts:\n  - hostPath: /usr/lib/libcuda.so.550.1\n    containerPath: /x\n' >/etc/cdi/nvidia.yaml
expect_found CDI problem '/etc/cdi/nvidia.yaml is stale: it names /usr/lib/libcuda.so.550.1' 'nvidia-ctk cdi generate'
rm /etc/cdi/nvidia.yaml
expect_green "the end of the specification"
expect cgpuctl cdi generate --output /etc/cdi/cgpu.json -q
expect_green "a specification of parts"
sed -i 's/CGPU_GPUS=GPU-.\{8\}/CGPU_GPUS=GPU-99999999/' /etc/cdi/cgpu.json
expect_found CDI problem '/etc/cdi/cgpu.json is stale: it describes parts of GPU-99999999' 'cgpuctl cdi generate --output /etc/cdi/cgpu.json'
expect cgpuctl cdi generate --output /etc/cdi/cgpu.json -q
expect_green "another specification of parts"

echo "A state folder that can't be written: full, and read-only."
mount -n -o remount,size=64k /var/lib/cgpu
expect_found 'state folder' problem '/var/lib/cgpu: its disk is full' 'df -h /var/lib/cgpu'
mount -n -o remount,size=64m,ro /var/lib/cgpu
expect_found 'state folder' problem 'mounted read-only' 'remount,rw'
mount -n -o remount,rw /var/lib/cgpu
expect_green "room in the state folder"

echo "A bad configuration: before a reload, after it, and mended."
mkdir -p /etc/cgpu
echo 'polcy: fixed' >/etc/cgpu/cgpud.yaml
expect_found configuration problem 'cgpud.yaml:1' 'policy'
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 5 finds configuration problem 'cgpud.yaml:1' 'systemctl reload cgpud'
expect_equal "findings of it" "$(jq '[.findings[] | select(.check == "configuration")] | length' "$scratch/doctor.out")" 1
rm /etc/cgpu/cgpud.yaml
kill -HUP "$(cat "$CGPU_LAB/cgpud.pid")"
wait_for 5 green

echo "A process on a managed card that belongs to no instance, beside one that does."
job web --mem 1GiB -- alloc --mib 100 --hold
wait_for 20 is_ready web
wait_for 5 green
alloc --mib 100 --hold >"$scratch/stray.out" &
stray=$!
wait_for 20 has "$scratch/stray.out" '^ready'
expect_found processes warning "process $stray \(alloc\) uses [0-9]+MiB of GPU 0 and belongs to no instance" "kill $stray"
kill -TERM $stray && wait $stray
wait_for 5 green
# Memory that only a descriptor keeps: of nobody, then of an instance, which is charged for it.
keep() { "$@" /usr/bin/python3 "$(dirname "$(realpath "$0")")/keep_memory.py" 3000 2>/dev/null </dev/null; }
keeper=$(keep)
nobodys='(3000|29[0-9][0-9])MiB of GPU 0 are used by no process that the driver shows'
wait_for 20 finds processes warning "$nobodys" 'fuser -v /dev/nvidia'
kill "${keeper#ready }"
wait_for 20 green
keeper=$(keep cgpuctl run --name keeper --mem 4GiB --)
used_of_keeper() { cgpuctl list --json | jq '.[] | select(.name == "keeper").gpus[0].memory_used_bytes'; }
keeper_is_charged() { (($(used_of_keeper) >= 3000 << 20)); }
wait_for 20 keeper_is_charged
wait_for 20 green
kill "${keeper#ready }"
wait_for 20 green

echo "A process whose instance cgpud doesn't know any more, and a folder that is left."
expect busctl --quiet call org.cgpu1 /org/cgpu1 org.cgpu1.Manager ReleaseInstance 'sa{sv}' "$(cgpuctl list -q)" 0
wait_for 5 finds orphans warning "process ${pids[web]} was started in instance" "kill ${pids[web]}"
kill -KILL "${pids[web]}"
wait "${pids[web]}" 2>/dev/null
wait_for 5 green
mkdir /run/cgpu/instances/ffffffffffff
expect_found orphans warning '/run/cgpu/instances/ffffffffffff belongs to no instance' 'systemctl restart cgpud'
expect lab-restart-cgpud
wait_for 5 green

echo "polkit's actions."
mv /usr/share/polkit-1/actions/org.cgpu1.policy "$scratch/"
expect_found polkit problem 'org.cgpu1.run is not in' 'reinstall cgpu'
mv "$scratch/org.cgpu1.policy" /usr/share/polkit-1/actions/
expect_green "the return of the file"

echo "Modes of a GPU. cgpud looks every ten seconds."
simgpu mode 0 exclusive
wait_for 20 finds GPUs warning 'GPU 0 takes no instance' 'nvidia-smi -i 0 -c DEFAULT'
simgpu mode 0 mig
wait_for 20 finds GPUs warning 'GPU 0 takes no instance' 'nvidia-smi -i 0 -mig 0'
expect finds 'Docker Swarm' warning 'announces cgpu_memory_mib=32260 .*, and the GPUs have cgpu_memory_mib=16130' 'cgpuctl swarm configure'
simgpu mode 1 prohibited
wait_for 20 finds GPUs problem 'GPU 1 takes no instance' 'nvidia-smi -i 1 -c DEFAULT'
simgpu mode 0 normal && simgpu mode 1 no-persistence
wait_for 20 finds 'persistence mode' warning 'GPU 1: it is off' 'nvidia-persistenced'
simgpu mode 1 normal
wait_for 20 green

echo "The driver: kernel and libraries of different versions, HMM, MPS."
mount -n -t tmpfs cgpu-lab /proc/driver && mkdir /proc/driver/nvidia
version() { echo "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  $1  Release Build" >/proc/driver/nvidia/version; }
version 580.65.06
expect_green "the same version"
version 580.95.05
expect_found driver problem 'the kernel module is 580.95.05, libcuda is 580.65.06' 'reboot'
version 580.65.06
mount -n -t tmpfs cgpu-lab /sys/module && mkdir -p /sys/module/nvidia_uvm/parameters
echo N >/sys/module/nvidia_uvm/parameters/uvm_disable_hmm
expect_found 'HMM and ATS' warning 'HMM is not turned off' 'uvm_disable_hmm=1'
echo Y >/sys/module/nvidia_uvm/parameters/uvm_disable_hmm
expect_green "HMM turned off"
cp /bin/sleep "$CGPU_LAB/bin/nvidia-cuda-mps-control"
nvidia-cuda-mps-control 100 &
mps=$!
wait_for 5 finds MPS warning "an MPS daemon is running \(pid $mps\)" 'nvidia-cuda-mps-control'
kill $mps && wait $mps 2>/dev/null
expect_green "the end of MPS"
umount -n /proc/driver /sys/module

echo "A module that can't be loaded."
engine=$(ls /usr/lib/cgpu/module/*/libcgpu-engine.so.*)
cp -p "$engine" "$scratch/engine"
echo x >>"$engine"
expect_found module problem 'libcgpu-engine' ''
cp -p "$scratch/engine" "$engine"
expect_green "the return of the engine"
