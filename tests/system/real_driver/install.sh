# Sourced by tests that put another driver into the node.

# install_driver FOLDER: its libraries take the place of those that the node has, libcuda.so.1 at least. cgpud keeps the NVML
# that it has loaded, and so the simulated GPU.
install_driver() {
    local folder=/usr/lib/x86_64-linux-gnu name file
    for name in libcuda libnvidia-ml; do
        file=$(find "$1" -maxdepth 1 -type f -name "$name.so.*" | head -n 1)
        [[ $file ]] || continue
        rm -f "$folder/$name".so*
        cp "$file" "$folder/" || fail "$file could not be installed"
        ln -s "${file##*/}" "$folder/$name.so.1"
    done
    [[ $folder/libcuda.so.1 -ef $(find "$folder" -name 'libcuda.so.*.*') ]] || fail "$1 has no libcuda"
    /sbin/ldconfig
}
