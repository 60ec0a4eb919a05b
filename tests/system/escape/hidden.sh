# Libraries of the driver that reach the GPU without libcuda, such as OpenCL's, are hidden in a job, in whatever folder they are:
# the loader finds an empty file. On the host they stay what they are.
. "$(dirname "$0")/../lib.sh"
libraries=/usr/lib/x86_64-linux-gnu
version=$(readlink -f "$libraries/libcuda.so.1")
version=${version##*/libcuda.so.}
chmod 755 "$scratch"
mkdir "$scratch/own"
# The content doesn't matter, as long as it is a library.
for file in "$libraries/libnvidia-opencl.so.$version" "$scratch/own/libnvidia-opencl.so.1"; do
    cp -L "$libraries/libcuda.so.1" "$file" || fail "copying to $file"
done
ln -s "libnvidia-opencl.so.$version" "$libraries/libnvidia-opencl.so.1"
load='import ctypes
try:
    ctypes.CDLL("libnvidia-opencl.so.1")
    print("loaded")
except OSError as error:
    print(error)'

expect_equal "outside of a job" "$(/usr/bin/python3 -c "$load")" loaded
for path in "" "$scratch/own"; do
    for as in "" "setpriv --reuid 1000 --regid 1000 --clear-groups"; do
        # shellcheck disable=SC2086 # words
        said=$(LD_LIBRARY_PATH=$path cgpuctl run --mem 2GiB -- $as /usr/bin/python3 -c "$load" 2>&1)
        [[ $said == *"file too short"* ]] || fail "LD_LIBRARY_PATH=$path: $said"
    done
    LD_LIBRARY_PATH=$path cgpuctl run --mem 2GiB -- info >"$scratch/info" || fail "info, with LD_LIBRARY_PATH=$path"
    expect_equal "the total in a job" "$(fact "$scratch/info" device.0.total_mem)" $((2 << 30))
done
expect_equal "outside of a job, afterwards" "$(/usr/bin/python3 -c "$load")" loaded
