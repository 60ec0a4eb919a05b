# The same limit holds for programs of every kind, however they find the driver, and whatever else they do.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../../lab.d/mounts.sh"
libraries=/usr/lib/$(uname -m)-linux-gnu
versioned=$(readlink -f "$libraries/libcuda.so.1")
learn_context_cost

# nvml_only THREAD: a program that never uses CUDA.
nvml_only() {
    local wrong=''
    job only --mem 1GiB -- "$kinds/nvml_where" "$1" only
    wait_for 20 is_ready only
    [[ $(fact "$scratch/only.out" nvml_total) == "$limit" ]] || wrong="NVML's total is $(fact "$scratch/only.out" nvml_total)"
    nothing_held || wrong=${wrong:-"it holds memory"}
    end_job only
    wait_for 10 none_listed
    row "NVML only, $1" "${wrong:-ok}"
}

echo "--- how they come by the driver"
for name in linked linked_now linked_rpath linked_runpath linked_absolute linked_per_thread linked_cxx; do
    kind "$name" -- "$kinds/$name"
done
kind 'open libcuda.so.1' -- "$kinds/opened"
kind 'open libcuda.so' -- "$kinds/opened" libcuda.so
kind 'open /…/libcuda.so.1' -- "$kinds/opened" "$libraries/libcuda.so.1"
kind 'open /…/libcuda.so.VERSION' -- "$kinds/opened" "$versioned"
for how in global deepbind namespace; do
    kind "open, $how" -- "$kinds/opened" libcuda.so.1 $how
done
kind 'open, per-thread names' -- "$kinds/opened" libcuda.so.1 local per-thread
for version in 1 2; do
    for flags in 0 1 2; do
        kind "ask v$version, flags $flags" -- "$kinds/asked" $version $flags
    done
done
kind 'ask v2, newest of all' -- "$kinds/asked" 2 0 13000
kind 'ask v2, newest, per thread' -- "$kinds/asked" 2 2 13000

echo "--- what their users set"
kind 'own LD_PRELOAD, a wrapper' -- env LD_PRELOAD="$kinds/preloaded_wrapper.so" "$kinds/linked"
kind 'own LD_PRELOAD of dlsym' -- env LD_PRELOAD="$kinds/preloaded_dlsym.so" "$kinds/opened"
kind 'own LD_LIBRARY_PATH' -- env LD_LIBRARY_PATH="$libraries" "$kinds/linked"
kind 'LD_BIND_NOW, LD_DEBUG' -- env LD_BIND_NOW=1 LD_DEBUG=libs LD_DEBUG_OUTPUT="$scratch/ld" "$kinds/linked"
kind 'cleared environment' -- env -i "$kinds/linked"
kind 'other user' -- setpriv --reuid 1000 --regid 1000 --clear-groups "$kinds/linked"

echo "--- what else they do"
for when in before after daemon; do
    kind "fork, $when" -- "$kinds/forked" $when
done
for by in by-thread by-last; do
    for when in before after daemon; do
        kind "fork $by, $when" -- "$kinds/forked" $by $when
    done
done
for how in exec vfork; do
    for by in '' by-thread by-last; do
        kind "$how ${by:-by the main thread}" CONTEXTS=2 -- "$kinds/forked" $by $how "$kinds/linked"
    done
done
kind 'fork under threads' -- "$kinds/forking"
for what in cuda nvml; do
    kind "fork in the first call, $what" -- "$kinds/forking_first" $what
done
kind 'threads that end' -- "$kinds/threads" 8
kind 'the main thread has ended' -- "$kinds/main_gone"
kind 'a thread is cancelled' -- "$kinds/cancelled"
for what in middle reused none few; do
    kind "descriptors: $what" -- "$kinds/descriptors" $what
done
kind 'interrupted calls' -- "$kinds/interrupted"
kind 'manners' -- bash -c 'exec "$0" 9>&1 >"$1" 2>&1' "$kinds/manners" "$scratch/printed"
[[ ! -s $scratch/printed ]] || row 'manners: printed' "$(head -n 1 "$scratch/printed")"
for where in main worker gone; do
    kind "NVML opened first, $where" -- "$kinds/nvml_where" $where first
    kind "NVML, fork, CUDA, $where" -- "$kinds/nvml_where" $where child
    nvml_only $where
done
kind 'NVML before CUDA' -- "$kinds/nvml_too" first
kind 'CUDA before NVML' -- "$kinds/nvml_too" last

echo "--- where they run"
kind 'Docker 19.03 system calls' -- "$kinds/confined"
kind 'own user namespace' -- unshare --user --map-root-user "$kinds/linked"
kind 'own pid namespace' -- unshare --pid --fork --mount-proc "$kinds/linked"
kind '/proc of other pids' -- unshare --mount bash -c 'umount -l /proc && exec "$0"' "$kinds/linked"
kind '/proc with hidepid' -- unshare --mount bash -c 'mount -o remount,hidepid=2 /proc &&
    exec setpriv --reuid 1000 --regid 1000 --clear-groups "$0"' "$kinds/linked"
expect install -m 4755 -o 1000 "$kinds/linked" "$CGPU_LAB/setuid"
kind 'setuid' -- env LD_LIBRARY_PATH=/none "$CGPU_LAB/setuid"

echo "--- a second copy of the driver"
# copy_driver FOLDER: as packages have it.
copy_driver() {
    expect mkdir -p "$1"
    expect cp "$versioned" "$1/libcuda.so.590.1"
    expect ln -s libcuda.so.590.1 "$1/libcuda.so.1"
}
expect overlay /usr/local
toolkit=/usr/local/cuda-99.9
copy_driver $toolkit/compat
copy_driver $toolkit/compat/lib.real
copy_driver "$CGPU_LAB/own"
kind 'compat by LD_LIBRARY_PATH' -- env LD_LIBRARY_PATH=$toolkit/compat "$kinds/linked"
kind 'compat by its path' -- "$kinds/opened" $toolkit/compat/libcuda.so.1
kind 'compat/lib.real' -- env LD_LIBRARY_PATH=$toolkit/compat/lib.real "$kinds/opened"
asks=(LD_LIBRARY_PATH=$toolkit/compat)
kind 'compat, the whole job' -- "$kinds/linked"
asks=(LD_LIBRARY_PATH="$CGPU_LAB/own")
kind 'own copy, the whole job' -- "$kinds/linked"
asks=()
echo $toolkit/compat >/etc/ld.so.conf.d/00-compat.conf
expect ldconfig
kind 'compat by ld.so.conf' -- "$kinds/linked"
end_table
