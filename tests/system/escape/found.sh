# Sourced by the tests of escapes, after lib.sh: when cgpud found what `escape` holds.
most_ms=4000 # from the moment when the program holds it

# policy WORD: cgpud with that on_escape from here on.
policy() {
    mkdir -p /etc/cgpu/cgpud.yaml.d
    echo "on_escape: $1" >/etc/cgpu/cgpud.yaml.d/escape.yaml
    expect lab-restart-cgpud
}

# What cgpud says of a process.
outside='uses GPU-[^ ]+( outside|, which isn.t the instance.s, outside) the module'
unexplained='holds [0-9]+MiB on GPU-[^ ]+ that the module can.t explain'

gone() { # PID
    ! kill -0 "$1" 2>/dev/null
}

# found_ms PID TEXT: the time of cgpud's first line with that text about the process, in milliseconds since 1970. cgpud has
# no TZ.
found_ms() {
    local time
    time=$(grep -m 1 -E -- "process $1: $2" <(lab-log) | cut -d ' ' -f 1)
    [[ $time ]] && env -u TZ date -d "$time" +%s%3N
}
was_found() {
    in_log "process $1: $2"
}

# took NAME PID TEXT: milliseconds from the moment when the job's program said that it holds the memory to cgpud's line
# with that text; `early` where it was killed, or named for its context, before it could say so. Waits for that line.
took() {
    local since found
    wait_for 30 has "$scratch/$1.out" '^pid'
    wait_for 30 was_found "$2" "$3"
    since=$(fact "$scratch/$1.out" holds_since)
    found=$(found_ms "$2" "$3")
    [[ $since ]] && ((found > since)) && echo $((found - since)) || echo early
}

# expect_in_time WHAT MILLISECONDS
expect_in_time() {
    [[ $2 == early ]] || expect_between "$1: milliseconds until it was found" "$2" 0 $most_ms
}
