# The parts of a node: the product, simulated GPUs, the bus, cgpud. Sourced in the node by init and the helpers.
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/system_bus_socket

# wait_until SECONDS COMMAND…: until it succeeds; fails when the time is over.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.02
    done
}

install_product() {
    cmake --install "$1" >"$CGPU_LAB/install.log" 2>&1
}

# install_simulator BUILD GPUS: the simulator in the place of NVIDIA's driver: libraries where the distribution keeps
# libraries, the device in /dev.
install_simulator() {
    local build=$1 gpus=$2 driver=580.65.06
    local libraries library name
    libraries=/usr/lib/$(uname -m)-linux-gnu
    # Of a real driver no versioned file may stay: ldconfig would point libcuda.so.1 back at it.
    while read -r library; do
        rm -f "$library"* || return
    done < <(/sbin/ldconfig -p | sed -nE 's,.*=> (.*/lib(cuda|nvidia-ml)\.so).*,\1,p' | sort -u)
    for name in libcuda libnvidia-ml; do
        cp "$build/tests/sim/$name.so.$driver" "$libraries/" || return
        ln -s "$name.so.$driver" "$libraries/$name.so.1" || return
        ln -s "$name.so.1" "$libraries/$name.so" || return
    done
    /sbin/ldconfig || return
    "$build/tests/sim/simgpu" create --gpus "$gpus" --device "$CGPU_LAB/simgpu" || return
    : >/dev/simgpu && mount -n --bind "$CGPU_LAB/simgpu" /dev/simgpu
}

start_bus() {
    dbus-daemon --config-file="$here/bus.conf" --nofork --nopidfile --nosyslog >"$CGPU_LAB/bus.log" 2>&1 &
    wait_until 10 test -S /run/dbus/system_bus_socket
}

owns_name() {
    [[ $(busctl call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s org.cgpu1 2>/dev/null) == 'b true' ]]
}

# start_cgpud [ARGUMENT…]: in a clean environment, as systemd would; ready when it owns its name.
start_cgpud() {
    env -i --default-signal=INT,QUIT PATH=/usr/sbin:/usr/bin DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SYSTEM_BUS_ADDRESS" \
        setsid /usr/sbin/cgpud "$@" >>"$CGPU_LAB/cgpud.log" 2>&1 </dev/null &
    echo $! >"$CGPU_LAB/cgpud.pid"
    wait_until 15 owns_name_or_dead
    owns_name
}

cgpud_runs() {
    kill -0 "$(cat "$CGPU_LAB/cgpud.pid")" 2>/dev/null
}

owns_name_or_dead() {
    owns_name || ! cgpud_runs
}

# stop_cgpud SIGNAL: and waits for its end.
stop_cgpud() {
    local pid
    pid=$(cat "$CGPU_LAB/cgpud.pid") || return
    kill -s "$1" "$pid" 2>/dev/null || return 0
    wait_until 10 test ! -d "/proc/$pid"
}

# install_helpers LAB.D BUILD: what is on the PATH besides the product.
install_helpers() {
    local program
    mkdir "$CGPU_LAB/bin"
    ln -s "$1/bin/"* "$2/tests/sim/simgpu" "$CGPU_LAB/bin/"
    for program in "$2/tests/programs/"*; do
        [[ -f $program && -x $program && $program != *.so* ]] && ln -s "$program" "$CGPU_LAB/bin/"
    done
    export PATH="$CGPU_LAB/bin:$PATH"
}
