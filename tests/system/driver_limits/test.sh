# Whether NVIDIA's driver itself could limit memory by cgroup is said by doctor, show and the bus: on a driver that can't, and on
# one that can, by the documented rules. In a job NVML tells the job's own limit, and sets none.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../real_driver/install.sh"

limits_of() { cgpuctl show "$1" --json | jq -r ".driver_limits | $2"; }
# expect_limits GPU BACKEND WHY: the same from all three.
expect_limits() {
    expect_equal "backend of GPU $1" "$(limits_of "$1" .backend)" "$2"
    limits_of "$1" .why_none | grep -qE "^$3$" || fail "GPU $1: why none: $(limits_of "$1" .why_none)"
    expect cgpuctl show "$1" >"$scratch/show.out"
    expect has "$scratch/show.out" "^Driver's limits: +$2"
    busctl --json=short call org.cgpu1 /org/cgpu1 org.cgpu1.Manager Examine >"$scratch/examined.out" 2>&1
    jq -e --argjson gpu "$1" --arg backend "$2" '.data[0].gpus.data[$gpu]."driver-limits".data == $backend' \
        "$scratch/examined.out" >/dev/null || fail "the bus says: $(cat "$scratch/examined.out")"
}
finding() { # LEVEL REGEX: of doctor about it
    cgpuctl doctor --json >"$scratch/doctor.out" 2>"$scratch/doctor.err"
    jq -e --arg level "$1" --arg what "$2" '.findings | any(.check == "driver'"'"'s limits" and .level == $level and
        (.what | test($what)))' "$scratch/doctor.out" >/dev/null
}

echo "A driver that can't."
expect_limits 0 none ".*drivers from 615 on.*"
expect finding ok 'none: .*615'

echo "One that can: which backend, and why there is none."
install_driver "$(dirname "$(readlink -f "$(command -v simgpu)")")/newer/615"
mount -n -t tmpfs cgpu-lab /sys/fs/cgroup || fail "no tmpfs for cgroups"
expect lab-restart-cgpud
expect_limits 0 none "no cgroups of version 2 .*"
echo cpuset cpu io memory hugetlb pids rdma misc >/sys/fs/cgroup/cgroup.controllers
expect_limits 0 misc ""
expect finding ok '^misc, not used$'
echo cpuset cpu io memory hugetlb pids rdma misc dmem >/sys/fs/cgroup/cgroup.controllers
expect_limits 0 dmem ""
expect_limits 1 dmem ""
mount -n -t tmpfs cgpu-lab /proc/driver && mkdir /proc/driver/nvidia
registry() { printf 'ResmanDebugLevel: 4294967295\nRegistryDwords: "%s"\n' "$1" >/proc/driver/nvidia/params; }
registry 'RmMemacctMode=1'
expect_limits 0 misc ""
registry 'PowerMizerEnable=1;RmMemacctMode=0'
expect_limits 0 none ".*switched off.*"
expect finding ok 'none: .*RmMemacctMode=0'
registry ''
simgpu mode 1 mig
expect_limits 0 dmem ""
expect_limits 1 none ".*MIG mode.*"
expect finding ok '^GPU 1: none: .*MIG mode'
simgpu mode 1 normal

echo "cgpud in a limited cgroup: the driver shows it a smaller card."
own=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$(cat "$CGPU_LAB/cgpud.pid")/cgroup")
mkdir -p "$own"
expect simgpu limit 0 "$own" 4096
expect finding warning 'limits cgpu-nvml itself to 4096MiB of GPU 0'
expect_equal "the limit" "$(limits_of 0 .own_limit_bytes)" $((4096 << 20))
expect_equal "on the other GPU" "$(limits_of 1 .own_limit_bytes)" null
expect simgpu limit 0 "$own" 0
expect finding ok '^dmem, not used$'
finding warning . && fail "the warning stays"

echo "In a job: its own limit, whichever cgroup it asks for, and no way to set one."
mkdir -p /sys/fs/cgroup/neighbour
expect simgpu limit 0 /sys/fs/cgroup/neighbour 2000
cat >"$scratch/limits.py" <<'PYTHON'
import ctypes

nvml = ctypes.CDLL("libnvidia-ml.so.1")


class Limits(ctypes.Structure):
    _fields_ = [("cgroup", ctypes.c_char_p)] + [(name, ctypes.c_ulonglong) for name in ("soft", "hard", "used")]


assert nvml.nvmlInit_v2() == 0
device = ctypes.c_void_p()
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
for cgroup in (b"/sys/fs/cgroup", b"/sys/fs/cgroup/neighbour"):
    limits = Limits(cgroup)
    print("get", nvml.nvmlDeviceGetMemoryLimits_v1(device, ctypes.byref(limits)), limits.soft, limits.hard, limits.used)
limits = Limits(b"/sys/fs/cgroup/neighbour", 0, 1 << 20)
print("set", nvml.nvmlDeviceSetMemoryLimits_v1(device, ctypes.byref(limits)))
PYTHON
expect /usr/bin/python3 "$scratch/limits.py" >"$scratch/outside.out"
expect has "$scratch/outside.out" '^get 3 ' # none is set for the root: as the driver says it
expect has "$scratch/outside.out" "^get 0 $((2000 << 20)) $((2000 << 20)) 0$"
expect has "$scratch/outside.out" '^set 0$'
expect simgpu limit 0 /sys/fs/cgroup/neighbour 2000
expect cgpuctl run --gpus 0 --mem 1GiB -- /usr/bin/python3 "$scratch/limits.py" >"$scratch/inside.out"
expect_equal "inside" "$(xargs <"$scratch/inside.out")" \
    "get 0 $((1 << 30)) $((1 << 30)) 0 get 0 $((1 << 30)) $((1 << 30)) 0 set 4"
/usr/bin/python3 "$scratch/limits.py" >"$scratch/outside.out"
expect has "$scratch/outside.out" "^get 0 $((2000 << 20)) $((2000 << 20)) 0$" # the job has not changed it
umount -n /proc/driver /sys/fs/cgroup
