#!/bin/sh
# Runs each test of front_mounted_test in a mount namespace that looks like a managed container's: the engine under
# /run/cgpu/module, the front, fitted, mounted over the (simulated) driver's versioned file. The driver itself is in
# /run/driver, where the test's daemon opens it. Exit status 77 if such namespaces aren't available (it needs root).
#
# usage: front_mounted.sh TEST SIMULATOR_FOLDER CUDA_FRONT ENGINE VERSION FIT
set -eu
if [ "${1:-}" != --inside ]; then
    unshare --mount true 2>/dev/null || exit 77
    failed=0
    for test in $("$1" --gtest_list_tests | sed -n 's/^  //p'); do
        unshare --mount --propagation private "$0" --inside "$test" "$@" || failed=1
    done
    exit $failed
fi
test=$2 program=$3 simulator=$4 front=$5 engine=$6 version=$7 fit=$8
mkdir -p /run
mount -t tmpfs none /run
mkdir -p /run/cgpu/link /run/driver "/run/cgpu/module/$version" /run/lib
cp -L "$simulator"/libcuda.so.1 "$simulator"/libnvidia-ml.so.1 /run/driver/
cp "$engine" "/run/cgpu/module/$version/"
cp -a "$simulator"/libcuda.so* /run/lib/
"$fit" "$front" /run/driver/libcuda.so.1 /run/front
mount --bind /run/front "$(readlink -f /run/lib/libcuda.so.1)"
export SIMGPU_DEVICE=/run/simgpu LD_LIBRARY_PATH=/run/lib
"$simulator/simgpu" create --gpus 'V100:16130MiB*2' >/dev/null
exec timeout 60 "$program" --gtest_filter="*.$test" --gtest_brief=1
