# A card whose contexts are larger than the estimate (an H100: 518 MiB, not 256), and a program that takes all that it gets, as fast
# as it can: nothing is granted, and no free memory told, before the driver has shown the context. So the limit holds from the
# first program on.
. "$(dirname "$0")/../lib.sh"
limit=$((1024 * 1024 * 1024))

for name in one two three four; do
    job "$name" --mem 1GiB -- alloc --mib 2 --until-fail --hold
    wait_for 20 is_ready "$name"
    expect_equal "result of $name" "$(fact "$scratch/$name.out" result)" "2 CUDA_ERROR_OUT_OF_MEMORY"
    expect_between "bytes of $name" "$(held "${pids[$name]}")" $((limit - (80 << 20))) $limit
done

# What a program is told at its start. The size is known on the first card now, so here it is another one.
said=$(expect cgpuctl run --name told --gpus 1 --mem 2GiB -- info)
free=$(awk '$1 == "device.0.mem_info_free" { print $2 }' <<<"$said")
expect_equal "free bytes at the start" "$free" $(((2048 - 518) << 20))
