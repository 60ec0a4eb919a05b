# The image of the tests. Sourced in the node, where a dockerd runs.

# have_image PROGRAMS: the image, where dockerd doesn't have it already.
have_image() {
    docker image inspect lab >/dev/null 2>&1 || import_image "$1"
}

# import_image PROGRAMS: the image `lab`: busybox, the C library and the test programs, on a root like Debian's.
import_image() {
    local root=$CGPU_LAB/image library program
    mkdir -p "$root"/{bin,dev,etc,proc,root,run,sys,tmp,usr/bin,usr/lib/x86_64-linux-gnu,usr/local/bin,var,lib64} || return
    ln -s usr/lib "$root/lib"
    ln -s /run "$root/var/run"
    cp "$(command -v busybox)" "$root/bin/" && "$root/bin/busybox" --install -s "$root/bin" || return
    echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
    for program in "$1"/*; do
        [[ -f $program && -x $program && $program != *.so* ]] || continue
        cp "$program" "$root/usr/local/bin/" || return
        ldd "$program"
    done | sed -nE 's,.*[[:blank:]](/[^ ]+) \(.*,\1,p' | sort -u | while read -r library; do
        # The driver comes from the runtime, as in any image.
        [[ $library == */libcuda.so* || $library == */libnvidia-ml.so* ]] && continue
        case $library in
            /lib64/*) cp -L "$library" "$root/lib64/" ;;
            *) cp -L "$library" "$root/usr/lib/x86_64-linux-gnu/" ;;
        esac
    done
    # Libraries that are part of libc nowadays, and that programs and modules built on older systems still need.
    for library in libdl.so.2 libpthread.so.0 librt.so.1; do
        cp -L "/lib/x86_64-linux-gnu/$library" "$root/usr/lib/x86_64-linux-gnu/" || return
    done
    # busybox --install -s links to the path by which it was called.
    find "$root/bin" -type l -exec ln -sfn busybox {} \;
    tar -C "$root" -c . | docker import --change 'CMD ["/bin/sh"]' - lab >/dev/null && rm -r "$root"
}
