#!/usr/bin/env bash
# A container that can't be limited as requested does not start, its user gets the reason, and nothing of it is left.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../escape/spellings.sh"

# expect_refused TEXT [OPTION…]: docker run's error has it, and no instance stays.
expect_refused() {
    expect_error "cgpu: $1" in_container "${@:2}" -- info
    wait_for 10 none_listed
}

asks=(ALIYUN_COM_GPU_MEM_CONTAINER=much)
expect_refused 'ALIYUN_COM_GPU_MEM_CONTAINER="much": .* Try: '
asks=(CGPU_COMPUTE=20%)
expect_refused 'CGPU_COMPUTE="20%": .* Try: '
asks=(CGPU_MEMORY=1GiB)
expect_refused 'CGPU_MEMORY="1GiB": cgpu knows no such variable. Try: CGPU_MEM'
asks=(ALIYUN_COM_GPU_MEM_CONTAINERS=4 ALIYUN_COM_GPU_MEM_DEV=15)
expect_refused 'ALIYUN_COM_GPU_MEM_CONTAINERS="4": .* Try: ALIYUN_COM_GPU_MEM_CONTAINER, or unknown_variables: warn'
expect_error 'Try: CGPU_WEIGHT' env CGPU_WIEGHT=2 cgpuctl run --mem 1GiB -- true
# What compose makes of `CGPU_MEM: ${GPU_MEM}` where GPU_MEM isn't set.
for empty in CGPU_MEM= CGPU_MEM=' ' CGPU_COMPUTE= CGPU_DISABLE=; do
    asks=("$empty")
    expect_refused "${empty%%=*}=\"\": it is empty. Try: .*CGPU_DISABLE=1"
    asks=("$empty" "${four_of_15[@]}")
    expect_refused "${empty%%=*}=\"\": it is empty. Try: "
done
asks=(CGPU_MEM= CGPU_DISABLE=1)
expect_equal "a container that undoes its image's request" "$(in_container -- echo here)" here
mkdir -p /etc/cgpu/cgpud.yaml.d
echo 'unknown_variables: warn' >/etc/cgpu/cgpud.yaml.d/typo.yaml
expect lab-restart-cgpud
asks=(CGPU_MEMORY=1GiB)
expect_equal "a container with a typo that is let pass" "$(in_container -- echo here)" here
expect in_log 'CGPU_MEMORY="1GiB": cgpu knows no such variable'
rm /etc/cgpu/cgpud.yaml.d/typo.yaml
expect lab-restart-cgpud
asks=(CGPU_MEM=20GiB)
expect_refused '20GiB .*16130MiB.* Try: '
asks=("${four_of_15[@]}" NVIDIA_DRIVER_CAPABILITIES=graphics,display)
expect_refused 'NVIDIA_DRIVER_CAPABILITIES="graphics,display": .* Try: '

echo "Without the driver's libraries in it."
mkdir -p /etc/cgpu
ln -s "$(command -v runc)" /etc/cgpu/next-runtime
asks=("${four_of_15[@]}")
expect_refused 'the container: there is no libcuda.so.1 in it'
ln -sfn /usr/bin/cgpu-runtime /etc/cgpu/next-runtime
expect_refused '/etc/cgpu/next-runtime: it does not lead to another container runtime'

echo "A next runtime that fails, or is killed, after the grant."
for end in 'exit 3' 'kill -KILL $$'; do
    printf '#!/bin/sh\ncase " $* " in *" create "*) %s ;; esac\nexec runc "$@"\n' "$end" >"$CGPU_LAB/next" &&
        chmod +x "$CGPU_LAB/next" && ln -sfn "$CGPU_LAB/next" /etc/cgpu/next-runtime
    expect_error 'docker: Error response from daemon' in_container -- info
    expect in_log 'instance .* admitted'
    wait_for 10 none_listed
done
rm /etc/cgpu/next-runtime

echo "An image whose links lead out of it."
# Without times, because instances in that folder come and go.
files() { find /usr/lib/x86_64-linux-gnu/libcuda.so.* /run/cgpu -xdev -printf '%i %M %u %g %s %p %l\n' | sort; }
plain=$(files)
for target in /proc/1/root/run /proc/self/cwd; do
    asks=()
    expect docker run --name image lab sh -c "rm -rf /run && ln -s $target /run" >/dev/null 2>&1
    expect docker commit image image >/dev/null
    expect docker rm image >/dev/null
    asks=("${four_of_15[@]}")
    expect_error 'cgpu: making /run/cgpu: |mkdir|not a directory|too many levels' \
        docker run --rm --runtime=cgpu -e "${asks[0]}" -e "${asks[1]}" image info
    wait_for 10 none_listed
    expect docker rmi image >/dev/null
done
asks=()
expect docker run --name image lab sh -c 'rm -rf /run && ln -s ../../../../../../../run2 /run && mkdir /run2' >/dev/null 2>&1
expect docker commit image image >/dev/null
asks=("${four_of_15[@]}")
expect_total "$limit_of_four" docker run --rm --runtime=cgpu -e "${asks[0]}" -e "${asks[1]}" image info
wait_for 10 none_listed
expect_equal "the host's own files" "$(files)" "$plain"
expect_equal "mounts of the host below /run/cgpu" "$(grep -c " /run/cgpu/" /proc/self/mountinfo)" 0

echo "Folders that can't all be covered."
asks=("${four_of_15[@]}")
managed=(docker run --rm --runtime=cgpu -e "${asks[0]}" -e "${asks[1]}")
expect docker run --name making lab sh -c 'mkdir /many && cd /many && mkdir $(seq 1100)' >/dev/null
expect docker commit making many >/dev/null
expect docker rm making >/dev/null
expect_error 'cgpu: .*the loader is told of more than 1024 folders.* Try: ' \
    "${managed[@]}" -e "LD_LIBRARY_PATH=$(many_folders /many)" many info
wait_for 10 none_listed
expect_total "$limit_of_four" "${managed[@]}" many info
expect docker run --name making many sh -c 'seq 1100 | sed s:^:/many/: >/etc/ld.so.conf' >/dev/null
expect docker commit making configured >/dev/null
expect docker rm making >/dev/null
expect_error 'cgpu: .*the loader is told of more than 1024 folders.* Try: ' "${managed[@]}" configured info
wait_for 10 none_listed
expect docker rmi configured many >/dev/null

echo "Without cgpud: managed containers are refused, plain ones are not."
stop_cgpud TERM
expect_error 'cgpu: cgpud: it does not answer on the system bus' in_container -- info
asks=()
expect_equal "a plain container" "$(in_container -- echo here)" here
expect start_cgpud
expect none_listed
