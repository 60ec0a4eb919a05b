# What takes memory without the module under systemd, where cgpud is a user without any right over jobs' processes. Processes of
# all uids are found. on_escape: kill needs the right to send signals: without kill.conf the process lives, and the log says why;
# with it the process is killed, whatever its uid.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../escape/found.sh"
chmod 755 "$scratch"
expect useradd --create-home --shell /bin/bash alice
users=(root alice nobody)

capabilities() { sed -n 's/^CapEff:\t*//p' "/proc/$(systemctl show cgpud --property MainPID --value)/status"; }
# start_all: a job of each user that takes 5000 MiB without the module, and an honest job.
start_all() {
    for user in "${users[@]}"; do
        job "$user" --user "$user" --mem 1GiB -- escape --mib 3000
    done
    job honest --user alice --mem 1GiB -- alloc --mib 500 --hold
    wait_for 20 is_ready honest
    for user in "${users[@]}"; do wait_for 20 has "$scratch/$user.out" '^pid'; done
}
end_all() {
    local name
    for name in "${users[@]}" honest; do end_job "$name"; done
    wait_for 10 none_listed
    wait_for 10 nothing_held
}
all_found() {
    local user
    for user in "${users[@]}"; do
        wait_for 10 was_found "${pids[$user]}" "$outside"
        wait_for 10 was_found "${pids[$user]}" "$unexplained"
    done
}

echo "Found, whoever its user is"
policy report
start_all
all_found
for user in "${users[@]}"; do expect is_ready "$user"; done
end_all

echo "on_escape: kill without the right to kill"
policy kill
expect_equal "cgpud's capabilities" "$(capabilities)" 0000000000000000
start_all
all_found
for user in "${users[@]}"; do
    wait_for 10 in_log "process ${pids[$user]}.*(may not|not permitted|Operation not permitted)"
    expect kill -0 "${pids[$user]}"
done
expect is_ready honest
end_all

echo "on_escape: kill with kill.conf"
mkdir -p /etc/systemd/system/cgpud.service.d
expect ln -s /usr/share/cgpu/kill.conf /etc/systemd/system/cgpud.service.d/kill.conf
expect systemctl daemon-reload
expect systemctl restart cgpud
expect_equal "cgpud's capabilities" "$(capabilities)" 0000000000000020 # CAP_KILL
start_all
for user in "${users[@]}"; do
    wait_for 10 gone "${pids[$user]}"
    wait "${pids[$user]}"
    expect_equal "exit status of $user's job" $? 137
done
expect is_ready honest
expect kill -0 "${pids[honest]}"
end_job honest
