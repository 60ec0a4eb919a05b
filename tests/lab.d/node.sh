# The parts of a node: the product, simulated GPUs, the bus. Sourced by init and init_systemd.
. "$here/wait.sh"

# Into the node's own /usr, whatever prefix the build tree was made for.
install_product() {
    cmake --install "$1" --prefix /usr --strip >"$CGPU_LAB/install.log" 2>&1
}

# place_driver ROOT BUILD GPUS: puts the simulator in the place of NVIDIA's driver: libraries where the distribution below
# ROOT keeps libraries; the device is $CGPU_LAB/simgpu.
place_driver() {
    local root=$1 build=$2 gpus=$3 driver=580.65.06 library name
    local libraries=$root/usr/lib/$(uname -m)-linux-gnu
    # No versioned file of a real driver may stay: ldconfig would make libcuda.so.1 point to it.
    while read -r library; do
        rm -f "$root$library"* || return
    done < <(/sbin/ldconfig -r "${root:-/}" -p | sed -nE 's,.*=> (.*/lib(cuda|nvidia-ml)\.so).*,\1,p' | sort -u)
    for name in libcuda libnvidia-ml; do
        cp "$build/tests/sim/$name.so.$driver" "$libraries/" || return
        ln -s "$name.so.$driver" "$libraries/$name.so.1" || return
        ln -s "$name.so.1" "$libraries/$name.so" || return
    done
    /sbin/ldconfig -r "${root:-/}" || return
    "$build/tests/sim/simgpu" create --gpus "$gpus" --device "$CGPU_LAB/simgpu"
}

start_bus() {
    dbus-daemon --config-file="$here/bus.conf" --nofork --nopidfile --nosyslog >"$CGPU_LAB/bus.log" 2>&1 &
    wait_until 10 test -S /run/dbus/system_bus_socket
}

# install_helpers LAB.D BUILD: programs on the PATH besides the product, and the product itself: the machine may have another
# installation of it in /usr/local, which comes first there.
install_helpers() {
    local program
    mkdir "$CGPU_LAB/bin"
    for program in /usr/bin/cgpu* /usr/sbin/cgpu*; do
        [[ -x $program ]] && ln -s "$program" "$CGPU_LAB/bin/"
    done
    ln -s "$1/bin/"* "$2/tests/sim/simgpu" "$2/module/bundle/cgpu-make-manifest" "$CGPU_LAB/bin/"
    # Engines of another version than the installed one, valid ones and broken ones.
    [[ ! -d $2/tests/unit/module/engines ]] || ln -s "$2/tests/unit/module/engines" "$CGPU_LAB/engines"
    for program in "$2/tests/programs/"*; do
        [[ -f $program && -x $program && $program != *.so* ]] && ln -s "$program" "$CGPU_LAB/bin/"
    done
    export PATH="$CGPU_LAB/bin:$PATH"
}
