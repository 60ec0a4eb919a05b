#!/usr/bin/env bash
# one_thread_test.sh PROGRAM…: none of these programs can start a thread, which ThreadSanitizer would have to see: what starts one
# is not among the functions that they bind.
set -u
status=0
(($#)) || { echo "no program was named" && exit 1; }
for program in "$@"; do
    bound=$(nm -D --undefined-only "$program") || { echo "$program: nm can't read it" && status=1 && continue; }
    if grep -E ' (pthread_create|thrd_create|_ZNSt6thread15_M_start_thread)' <<<"$bound"; then
        echo "$(basename "$program") can start a thread. Try: without ONE_THREAD in its CMakeLists.txt"
        status=1
    fi
done
echo "$# programs"
exit "$status"
