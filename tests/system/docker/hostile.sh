#!/usr/bin/env bash
# Images and volumes that are made to harm the host or to get round the limit while cgpu's hooks look at them: a container is
# refused with a reason or has its limit, in reasonable time, and the host's files and mounts stay as they were.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
libraries=/usr/lib/x86_64-linux-gnu
asks=()
managed=(docker run --rm --runtime=cgpu -e "${four_of_15[0]}" -e "${four_of_15[1]}")

# Without times, because instances in that folder come and go.
host() {
    find "$libraries"/libcuda.so.* /run/cgpu -xdev -printf '%i %M %u %g %s %p %l\n' | sort
    awk '{print $5}' /proc/self/mountinfo | grep -vE '^/(var/lib|run)/docker' | sort
}
# limited_or_refused WHAT COMMAND…: info in a container.
limited=0 refused=0
limited_or_refused() {
    local what=$1
    shift
    if timeout -k 5 60 "$@" >"$scratch/info" 2>"$scratch/info.err"; then
        expect_equal "total, $what" "$(grep -oE '^device\.0\.[a-z0-9_]*total(_mem)? .*' "$scratch/info" | sed 's/.* //' | sort -u)" \
            "$limit_of_four"
        limited=$((limited + 1))
    else
        # Or its program can't load the driver.
        has "$scratch/info.err" 'cgpu: .*Try: |error while loading shared libraries' || fail "$what: $(cat "$scratch/info.err")"
        refused=$((refused + 1))
    fi
}
started_or_refused() {
    timeout -k 5 60 "$@" >/dev/null 2>"$scratch/info.err" || has "$scratch/info.err" 'cgpu: .*Try: ' ||
        fail "$*: $(cat "$scratch/info.err")"
}
# image NAME COMMAND: the lab's image after that shell command.
image() {
    expect docker run --name making lab sh -c "$2" >/dev/null
    expect docker commit "${@:3}" making "$1" >/dev/null
    expect docker rm making >/dev/null
}
# What cgpud and the runtime make once.
expect "${managed[@]}" lab info >/dev/null
wait_for 10 none_listed
host >"$scratch/before"

echo "The runtime and its hooks don't depend on what an image names to be loaded."
runtime=$(command -v cgpu-runtime)
expect_equal "libraries and loader of cgpu-runtime" "$(readelf -ldW "$runtime" | grep -cE 'INTERP|NEEDED')" 0
# Whoever loads it says so: programs of the container in its root, and a hook would in the host's.
cat >"$scratch/tell.c" <<'C'
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void tell(void) { close(open("/loaded", O_CREAT | O_WRONLY, 0644)); }
C
expect gcc -shared -fPIC -o "$scratch/tell.so" "$scratch/tell.c"
tell=(-v "$scratch/tell.so:/tell.so:ro")
expect "${managed[@]}" "${tell[@]}" -e LD_PRELOAD=/tell.so lab sh -c 'info && ls /loaded' >"$scratch/out"
expect has "$scratch/out" '^/loaded$'
# Relative to the bundle, in which some hooks are started.
for library in rootfs/tell.so ./tell.so "$scratch/tell.so"; do
    expect "${managed[@]}" "${tell[@]}" -e "LD_PRELOAD=$library" lab info >/dev/null
done
expect test ! -e /loaded
asks=("${four_of_15[@]}")
container shown -e LD_PRELOAD=/tell.so "${tell[@]}" -- sleep 1000
bundle=$(find /run /var/run -path "*/$(cat "$scratch/shown.id")/config.json" 2>/dev/null | head -n 1)
expect_equal "hooks of cgpu with an environment of their own" \
    "$(jq '[.hooks[][] | select(.args[0] == "cgpu-runtime") | (.env // []) | any(startswith("PATH=")) and all(startswith("LD_") | not)]' "$bundle" |
        jq -c .)" '[true,true]'
expect docker rm -f shown >/dev/null
asks=()

echo "Files that can't be read, or only for ever."
# Not with the stand-in for NVIDIA's runtime: its ldconfig would wait for a fifo for ever, without cgpu, too.
mkdir -p /etc/cgpu && ln -s "$(command -v runc)" /etc/cgpu/next-runtime || fail "no next runtime"
compat=/usr/local/cuda/compat
places=($compat/libcuda.so.1 "$libraries/libcuda.so.1" /etc/ld.so.conf /etc/ld.so.conf.d/x.conf /etc/ld.so.cache)
volumes=(-v /dev/simgpu:/dev/simgpu) link=
for library in "$libraries"/lib{cuda,nvidia-ml}.so.1; do
    file=$(readlink -f "$library")
    volumes+=(-v "$file:$file:ro")
    link+="ln -sf $(basename "$file") $library; "
done
# It may be ending by itself.
waiting_is_removed() {
    docker rm -f waiting >/dev/null 2>&1
    ! docker inspect waiting >/dev/null 2>&1
}
for kind in 'mkfifo' 'mkdir' 'ln -s /dev/zero' 'ln -s loop' 'ln -s /proc/self/fd/0' 'ln -s /proc/1/root/etc/shadow'; do
    for place in "${places[@]}"; do
        image evil "mkdir -p $compat /etc/ld.so.conf.d $libraries && $link rm -rf $place && $kind $place"
        if [[ $kind == mkfifo ]]; then
            # The container's own loader would wait for some of them for ever.
            expect timeout -k 5 60 "${managed[@]}" -d --name waiting "${volumes[@]}" evil info >/dev/null
            wait_for 20 waiting_is_removed
            continue
        fi
        limited_or_refused "$kind $place" "${managed[@]}" "${volumes[@]}" evil info
    done
done
# A terabyte, which docker commit would read.
truncate -s 1T "$scratch/huge" && image linked "mkdir -p $libraries && $link true" || fail "no sparse file"
for place in "${places[@]}"; do
    limited_or_refused "huge $place" "${managed[@]}" "${volumes[@]}" -v "$scratch/huge:$place" linked info
done
rm "$scratch/huge" /etc/cgpu/next-runtime
echo "$limited limited, $refused refused"
# Where the driver itself can be loaded, the container isn't refused.
expect_between "containers that ran" "$limited" 20 30

echo "Links that change while the hook looks."
volume=$scratch/volume
mkdir -p "$volume/real" "$volume/other" && cp -L "$libraries/libcuda.so.1" "$volume/real/libcuda.so.1" &&
    cp -L "$libraries/libcuda.so.1" "$volume/libcuda.so.1" || fail "no volume"
turn_links() {
    local target
    while [[ -e $scratch/turning ]]; do
        for target in real other / ../../../../.. /run/cgpu "$libraries" /proc/1/root/usr/lib; do
            ln -sfn "$target" "$volume/next" && mv -T "$volume/next" "$volume/compat"
            ln -sfn "$target/libcuda.so.1" "$volume/other/next" && mv -T "$volume/other/next" "$volume/other/libcuda.so.1"
        done
    done
}
: >"$scratch/turning"
turn_links &
turner=$!
for ((run = 0; run < 15; run++)); do
    limited_or_refused "links that change" "${managed[@]}" -v "$volume:/usr/local/cuda" lab info
    # A driver that comes into a volume after the hook has looked is found by what it holds (docs/isolation.md), not here.
    started_or_refused "${managed[@]}" -v "$volume:/usr/local/cuda" \
        -e LD_LIBRARY_PATH=/usr/local/cuda/compat:/usr/local/cuda/other lab true
done
rm "$scratch/turning"
wait "$turner"
echo "$limited limited, $refused refused"

echo "Folders of cgpu's that the user mounts."
mkdir -p "$scratch/run/cgpu/front" && echo mine >"$scratch/run/cgpu/front/libcuda.so.1" || fail "no folder"
for option in "$scratch/run:/run" "$scratch/run/cgpu:/run/cgpu" "$scratch/run/cgpu:/run/cgpu:ro" \
    "$scratch/run/cgpu/front:/run/cgpu/front" /run/cgpu:/run/cgpu; do
    limited_or_refused "-v $option" "${managed[@]}" -v "$option" lab info
done
expect_equal "the user's own file" "$(cat "$scratch/run/cgpu/front/libcuda.so.1")" mine
echo "$limited limited, $refused refused"

echo "A volume at /run, in which another user of it renames /run/cgpu while the hook works there."
mkdir "$scratch/renamed"
: >"$scratch/turning"
python3 - "$scratch" <<'PYTHON' &
import itertools, os, sys
scratch = sys.argv[1]
for number in itertools.count():
    if not os.path.exists(scratch + '/turning'):
        break
    try:
        os.rename(scratch + '/renamed/cgpu', f'{scratch}/renamed/{number}')
        os.mkdir(scratch + '/renamed/cgpu')
    except OSError:
        pass
PYTHON
turner=$!
for ((run = 0; run < 8; run++)); do
    # Its program has the limit, or no driver if the folder was renamed later.
    timeout -k 5 60 "${managed[@]}" -v "$scratch/renamed:/run" lab info >"$scratch/info" 2>"$scratch/info.err"
    ! grep -E '^device\.0\..*total(_mem)? ' "$scratch/info" | grep -qv " $limit_of_four$" ||
        fail "a folder that is renamed: $(cat "$scratch/info")"
done
rm "$scratch/turning"
wait "$turner"
expect_equal "what was written into the volume" "$(find "$scratch/renamed" -mindepth 2)" ''

echo "The driver's descriptors, while a program loads the driver: a container's user without any capability tries to get them."
cp "$(dirname "${BASH_SOURCE[0]}")/../hostile/descriptor" "$scratch/attack" || fail "no attack"
for way in debug stop fifo; do
    timeout -k 5 60 "${managed[@]}" -u 1000:1000 --cap-drop ALL --security-opt no-new-privileges -v "$scratch/attack:/attack:ro" \
        -w /dev/shm -e MIB=8000 lab sh /attack $way info >"$scratch/attacked" 2>&1
    expect_between "descriptors tried by $way" "$(fact "$scratch/attacked" tried)" 80 1000
    has "$scratch/attacked" ': 0 CUDA_SUCCESS|^driver' && fail "$way: $(cat "$scratch/attacked")"
done

wait_for 10 none_listed
same_host() {
    host >"$scratch/after"
    diff "$scratch/before" "$scratch/after" >"$scratch/host.out"
}
wait_for 10 same_host
