# A drained GPU takes no new instance, and those that run there stay: over the death of cgpud, for requests that name it, that name
# none and that name all, and until it is undrained.
. "$(dirname "$0")/../lib.sh"
drained() { cgpuctl describe | jq -c '[.gpus[].drained]'; }
gpu_of() { cgpuctl list --json | jq -c --arg name "$1" '[.[] | select(.name == $name).gpus[].index]'; }
refused='it is drained: it takes no new instance. Try: .*cgpuctl undrain 0'

job old --gpus 0 --mem 2GiB -- burn --forever --kernel-us 1000
wait_for 20 is_ready old
expect_equal "a dry run" "$(cgpuctl drain 0 --dry-run)" 'GPU 0: it could be drained; nothing was changed.'
expect_equal "drained" "$(drained)" '[false,false]'
expect_equal "the answer" "$(cgpuctl drain 0)" 'GPU 0: it is drained, and takes no new instance.'
expect_equal "drained" "$(drained)" '[true,false]'
busctl --json=short get-property org.cgpu1 "$(busctl call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindGpu s 0 | cut -d '"' -f 2)" \
    org.cgpu1.Gpu Drained | grep -q true || fail "the property Drained"
in_log 'GPU 0 .*: it is drained, and takes no new instance' || fail "no event"

echo "who is there computes on, and nobody new gets it"
computes old
expect_error "$refused" cgpuctl run --gpus 0 --mem 1GiB -- true
expect_error "$refused" cgpuctl run --gpus all --mem 1GiB -- true
job elsewhere --mem 1GiB -- alloc --mib 10 --hold
wait_for 20 is_ready elsewhere
expect_equal "the GPU of one that names none" "$(gpu_of elsewhere)" '[1]'
expect_error 'ask for less, or stop an instance .*, or cgpuctl undrain 0' cgpuctl run --mem 15GiB -- true
cgpuctl status --no-legend 2>/dev/null | grep -qE '^0 \(drained\) ' || fail "status doesn't show it"
cgpuctl show 0 | grep -qE '^GPU.* 0 .drained: it takes no new instance.$' || fail "show doesn't show it: $(cgpuctl show 0)"
cgpuctl doctor 2>/dev/null | grep -q 'GPU 0 is drained' || fail "doctor doesn't warn"

echo "it survives cgpud's death, and the instance on it is there again"
expect lab-restart-cgpud --kill
wait_for 10 cgpuctl show old
expect_equal "drained" "$(drained)" '[true,false]'
expect_equal "the GPU of the old one" "$(gpu_of old)" '[0]'
computes old
expect_error "$refused" cgpuctl run --gpus 0 --mem 1GiB -- true

echo "all GPUs at once, by a batch too; and a change that is refused changes none"
expect_error 'none of the GPUs was changed' cgpuctl drain 1 7
generation=$(cgpuctl describe | jq .generation)
expect_error 'the node has changed' cgpuctl drain 1 --if-generation $((generation - 1))
expect cgpuctl drain node -q
expect_equal "drained" "$(drained)" '[true,true]'
expect_error 'no GPU can take it .*Try: cgpuctl undrain 0 1' cgpuctl run --mem 1GiB -- true
expect cgpuctl revert 0 1 -q
expect_equal "drained after a revert" "$(drained)" '[true,true]'
printf 'undrain 1\nset-policy 1 fixed\n' | expect cgpuctl apply -q
expect_equal "drained" "$(drained)" '[true,false]'
echo 'drain node' | expect cgpuctl apply -q
expect cgpuctl undrain node -q
expect_equal "drained" "$(drained)" '[false,false]'
job again --gpus 0 --mem 1GiB -- alloc --mib 10 --hold
wait_for 20 is_ready again
cgpuctl doctor 2>/dev/null | grep -q 'is drained' && fail "doctor warns still"
end_job again
end_job elsewhere
end_job old
