# cgpud is stopped (not dead): the jobs compute on, and can end; when it resumes, everything is as before.
. "$(dirname "$0")/../lib.sh"
asks=("${four_of_15[@]}")

expect cgpuctl set-policy 0 weighted
job one --weight 1 -- burn --forever --mib 1000
job two --weight 2 -- burn --forever --mib 1000
job ending -- burn --forever
for name in one two ending; do wait_for 20 is_ready "$name"; done

kill -STOP "$(cat "$CGPU_LAB/cgpud.pid")"
for _ in 1 2 3; do
    computes one
    computes two
    sleep 1
done
end_job ending
kill -CONT "$(cat "$CGPU_LAB/cgpud.pid")"

two_listed() {
    [[ $(cgpuctl list --json | jq -c '[.[].name] | sort') == '["one","two"]' ]]
}
wait_for 10 two_listed
sleep 0.5
expect_shares 8 3 one=33.3 two=66.7
end_job one
end_job two
wait_for 5 none_listed
wait_for 5 nothing_held
