# The user that a job runs as: the caller of sudo, unless root is requested; the limit holds, and such a user can't bypass it
# in the ways that are open to root.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")
chmod 755 "$scratch"
as_sudo=(env "${asks[@]}" SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody)

# The environment that the user finds in the job.
"${as_sudo[@]}" cgpuctl run -- bash -c 'id -un; id -G; echo "$USER"; grep -E "^Cap(Prm|Eff|Amb)" /proc/self/status' \
    >"$scratch/who" 2>"$scratch/why" || fail "the job failed: $(cat "$scratch/why")"
expect_equal "user, groups, USER and capabilities" "$(tr -s '\t\n' ' ' <"$scratch/who")" \
    "nobody 65534 nobody CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 "
expect_equal "the user that root asks for" "$("${as_sudo[@]}" cgpuctl run --user root -- id -un)" root
expect_equal "an id that is asked for" "$(env "${asks[@]}" cgpuctl run --user 65534 -- id -u)" 65534
expect_equal "as it was without sudo" "$(env "${asks[@]}" cgpuctl run -- id -un)" root
expect_error 'has no such user. Try: ' env "${asks[@]}" cgpuctl run --user nobdy -- true

# Terminal, parent and pid stay; so does the exit status, also of a command that doesn't exist.
expect_equal "its parent" "$("${as_sudo[@]}" cgpuctl run -- bash -c 'echo $PPID')" $$
"${as_sudo[@]}" cgpuctl run -- bash -c 'exit 7'
expect_equal "exit status" $? 7
# A folder of PATH that the user may not enter makes it "may not be executed".
said=$("${as_sudo[@]}" PATH=/usr/bin:/bin cgpuctl run -- no-such-command 2>&1)
expect_equal "exit status where there is no such command" $? 127
expect_equal "lines of what is said then" "$(wc -l <<<"$said")" 1
wait_for 5 none_listed

# The limit holds, and none of root's ways to bypass it works.
asks+=(SUDO_UID=65534 SUDO_GID=65534)
job limited -- bash -c 'alloc --mib 100 --until-fail
    for way in "umount /run/cgpu/link" "ls /proc/1/root/" "unshare --mount true" "mount -t tmpfs none /run/cgpu" \
        "unshare --user --map-root-user --mount umount /run/cgpu" "unshare --user --map-root-user --mount umount /run/cgpu/link"; do
        $way 2>/dev/null && echo "open $way"
    done
    echo ready; sleep 1000'
wait_for 60 is_ready limited
expect_equal "an allocation too much" "$(fact "$scratch/limited.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
expect_between "MiB allocated below the limit" "$(fact "$scratch/limited.out" allocated_mib)" 3600 4301
expect_equal "ways of root's" "$(fact "$scratch/limited.out" open)" ''
kill -KILL "${pids[limited]}"
pkill -KILL -u 65534 sleep
wait_for 10 none_listed
