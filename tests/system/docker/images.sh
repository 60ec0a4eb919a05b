#!/usr/bin/env bash
# Behind the front is the driver that the container's programs would use without cgpu, whatever other drivers the image
# contains; the limit holds with every one of them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../escape/spellings.sh"
libraries=/usr/lib/x86_64-linux-gnu
driver=$(readlink -f "$libraries/libcuda.so.1")

# other VERSION [HOST-VERSIONS]: a driver of another version: that of the host, distinguished by its last bytes; with NVIDIA's
# note that says with which versions of a host's driver it works.
other() {
    local file=$scratch/libcuda.so.$1 section=.note.cuda.fwd_compatibility
    cp "$driver" "$file" || return
    if (($# > 1)); then
        # objcopy gives a section that it adds no alignment, so that it has to be called a second time.
        note "{\"format\":1,\"CUDA version\":\"13.1\",\"driver\":[$2],\"device\":[1,2,7]}" >"$scratch/note" &&
            objcopy --add-section "$section=$scratch/note" --set-section-flags "$section=contents,readonly" "$file" &&
            objcopy --set-section-alignment "$section=4" "$file" || return
    fi
    echo "driver $1" >>"$file"
}
# note TEXT: an ELF note of NVIDIA's with this text.
note() {
    local owner='NVIDIA Corporation'
    number $((${#owner} + 1)) && number $((${#1} + 1)) && number 0 && padded "$owner" && padded "$1"
}
number() { # 4 bytes, little endian
    local hex
    hex=$(printf '%08x' "$1") && printf "\\x${hex:6:2}\\x${hex:4:2}\\x${hex:2:2}\\x${hex:0:2}"
}
padded() { # with 1 to 4 zeros
    printf '%s' "$1" && head -c $((4 - ${#1} % 4)) /dev/zero
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
# The note decides, not the name: the first of the same release is to be used, the second, newer one isn't.
noted_compat() { compat "$1" 580.95.05 570,580; }
unlisted_compat() { compat "$1" 595.10.01 535,570; }
compat() {
    mkdir -p "$1/usr/local/cuda/compat" && other "${@:2}" && cp "$scratch/libcuda.so.$2" "$1/usr/local/cuda/compat/" &&
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
# What ldconfig and the loader say in the container, and where that leads. The image has no ldconfig.
ldconfig=(-v "$(readlink -f /sbin/ldconfig):/ldconfig:ro")
cached='/ldconfig -p | sed -n "s/.*libcuda.so.1 (libc6,x86-64) => //p" | head -n 1'
named="readlink -f \$($cached) && readlink -f \$($loaded)"
# is_front CONTAINER FILE: by a word that only fronts have.
is_front() {
    grep -qa cgpuroom "/proc/$(docker inspect -f '{{.State.Pid}}' "$1")/root$2"
}

names=(lab older_compat newer_compat noted_compat unlisted_compat own_link own_file stubs conda)
for name in "${names[@]:1}"; do image "$name" "$name"; done
# As in NVIDIA's libraries: a note, aligned to 4 bytes, whose text ends with a zero.
expect grep -qE 'fwd_compatibility +NOTE .* 4$' <(readelf -SW "$scratch/libcuda.so.580.95.05")
expect grep -q '"driver":\[570,580\]' <(readelf -p .note.cuda.fwd_compatibility "$scratch/libcuda.so.580.95.05")
for mode in legacy cdi; do
    mkdir -p /etc/nvidia-container-runtime
    echo "$mode" >/etc/nvidia-container-runtime/mode
    for name in "${names[@]}"; do
        "${plain[@]}" "${ldconfig[@]}" "$name" sh -c "$named && sha256sum < \$($loaded)" >"$scratch/without" ||
            fail "$mode, $name: what the loader takes without cgpu isn't known"
        mapfile -t files < <(head -n 2 "$scratch/without")
        without=$(sed -n '3s/ .*//p' "$scratch/without")
        expect_equal "$mode: the driver of $name that the loader takes, and the cache's" "${files[1]}" "${files[0]}"
        expect "${managed[@]}" "${ldconfig[@]}" -d --name computing "$name" burn --forever >/dev/null
        wait_for 20 container_is_ready computing
        # In the finished container both lead to the same file, and over it lies the front.
        mapfile -t now < <(docker exec computing sh -c "$named")
        expect_equal "$mode: libcuda.so.1 of the managed $name by its cache and its loader" "${now[*]}" "${files[*]}"
        expect is_front computing "${now[1]}"
        expect_equal "$mode: the driver behind the front in $name" "$(drivers_in "$(docker inspect -f '{{.State.Pid}}' computing)")" "$without"
        expect docker rm -f computing >/dev/null
        wanted=$driver
        [[ $name != newer_compat ]] || wanted=$scratch/libcuda.so.590.44.01
        [[ $name != noted_compat ]] || wanted=$scratch/libcuda.so.580.95.05
        expect_equal "$mode: the driver of $name without cgpu" "$without" "$(sha256sum <"$wanted" | cut -d ' ' -f 1)"
        expect_total "$limit_of_four" "${managed[@]}" "$name" info
        echo "$mode, $name: as without cgpu"
    done
    for folder in /usr/local/cuda/compat:older_compat /usr/local/cuda/compat:newer_compat \
        /usr/local/cuda/lib64/stubs:stubs /opt/conda/cuda-compat:conda; do
        expect_total "$limit_of_four" "${managed[@]}" -e "LD_LIBRARY_PATH=${folder%:*}" "${folder#*:}" info
        expect_total "$limit_of_four" "${managed[@]}" "${folder#*:}" env "LD_LIBRARY_PATH=${folder%:*}" info
    done
    # The folders that come last are covered, too.
    decoys=$(decoy_path /usr/local/cuda/compat)
    expect_total "$limit_of_four" "${managed[@]}" -e "LD_LIBRARY_PATH=$decoys" older_compat info
    expect_total "$limit_of_four" "${managed[@]}" -e "LD_LIBRARY_PATH=$decoys" older_compat env -u LD_LIBRARY_PATH info
done
wait_for 10 none_listed
