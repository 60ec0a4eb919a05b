# has_real_gpu: whether this machine has an NVIDIA GPU and its driver. (Containers may have no /proc/driver.)
has_real_gpu() {
    [[ -e /dev/nvidiactl ]] || return 1
    [[ -e /proc/driver/nvidia/version ]] || /sbin/ldconfig -p | grep -q 'libcuda\.so\.1 '
}
