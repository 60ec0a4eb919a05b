#!/usr/bin/env bash
# Behind the front is the driver that the container's programs would use without cgpu, whatever other drivers the image
# contains; the limit holds with every one of them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
libraries=/usr/lib/x86_64-linux-gnu
driver=$(readlink -f "$libraries/libcuda.so.1")

# other VERSION: a driver of another version: that of the host, distinguished by its last bytes.
other() {
    cp "$driver" "$scratch/libcuda.so.$1" && echo "driver $1" >>"$scratch/libcuda.so.$1"
}
# image NAME COMMAND…: the lab's image with the files that the command makes below the folder $1.
image() {
    local tree=$scratch/$1
    mkdir -p "$tree" && "${@:2}" "$tree" || fail "image $1"
    expect docker create --name making lab >/dev/null
    expect docker cp "$tree/." making:/
    expect docker commit making "$1" >/dev/null
    expect docker rm making >/dev/null
}
older_compat() { compat "$1" 535.104.05; }
newer_compat() { compat "$1" 590.44.01; }
compat() {
    mkdir -p "$1/usr/local/cuda/compat" && other "$2" && cp "$scratch/libcuda.so.$2" "$1/usr/local/cuda/compat/" &&
        ln -s "libcuda.so.$2" "$1/usr/local/cuda/compat/libcuda.so.1"
}
own_link() {
    mkdir -p "$1$libraries" && other 535.104.05 && cp "$scratch/libcuda.so.535.104.05" "$1$libraries/" &&
        ln -s libcuda.so.535.104.05 "$1$libraries/libcuda.so.1"
}
own_file() {
    mkdir -p "$1$libraries" && other 535.104.05 && cp "$scratch/libcuda.so.535.104.05" "$1$libraries/libcuda.so.1"
}
stubs() {
    mkdir -p "$1/usr/local/cuda/lib64/stubs" "$1/etc/ld.so.conf.d" && other 535.104.05 &&
        cp "$scratch/libcuda.so.535.104.05" "$1/usr/local/cuda/lib64/stubs/libcuda.so" &&
        echo /usr/local/cuda/lib64/stubs >"$1/etc/ld.so.conf.d/cuda-stubs.conf"
}
conda() {
    mkdir -p "$1/opt/conda/cuda-compat" && other 590.44.01 &&
        cp "$scratch/libcuda.so.590.44.01" "$1/opt/conda/cuda-compat/libcuda.so.1"
}

# The program that the loader would start, without starting it: which libcuda.so.1 does it take? (busybox has no ldd)
loaded='/lib64/ld-linux-x86-64.so.2 --list /usr/local/bin/info | sed -n "s/.*libcuda.so.1 => \([^ ]*\) .*/\1/p"'
plain=(docker run --rm --runtime=cgpu -e NVIDIA_VISIBLE_DEVICES=all)
managed=(docker run --rm --runtime=cgpu -e "${four_of_15[0]}" -e "${four_of_15[1]}")

for name in older_compat newer_compat own_link own_file stubs conda; do image "$name" "$name"; done
for mode in legacy cdi; do
    mkdir -p /etc/nvidia-container-runtime
    echo "$mode" >/etc/nvidia-container-runtime/mode
    for name in lab older_compat newer_compat own_link own_file stubs conda; do
        without=$("${plain[@]}" "$name" sh -c "sha256sum < \$($loaded)" | cut -d ' ' -f 1)
        expect "${managed[@]}" -d --name computing "$name" burn --forever >/dev/null
        wait_for 20 container_is_ready computing
        expect_equal "$mode: the driver behind the front in $name" "$(drivers_in "$(docker inspect -f '{{.State.Pid}}' computing)")" "$without"
        expect docker rm -f computing >/dev/null
        wanted=$driver
        [[ $name != newer_compat ]] || wanted=$scratch/libcuda.so.590.44.01
        expect_equal "$mode: the driver of $name without cgpu" "$without" "$(sha256sum <"$wanted" | cut -d ' ' -f 1)"
        expect_total "$limit_of_four" "${managed[@]}" "$name" info
        echo "$mode, $name: as without cgpu"
    done
    for folder in /usr/local/cuda/compat:older_compat /usr/local/cuda/compat:newer_compat \
        /usr/local/cuda/lib64/stubs:stubs /opt/conda/cuda-compat:conda; do
        expect_total "$limit_of_four" "${managed[@]}" -e "LD_LIBRARY_PATH=${folder%:*}" "${folder#*:}" info
        expect_total "$limit_of_four" "${managed[@]}" "${folder#*:}" env "LD_LIBRARY_PATH=${folder%:*}" info
    done
done
wait_for 10 none_listed
