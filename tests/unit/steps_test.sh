#!/usr/bin/env bash
# Tests how ./check counts (.ci/steps.sh), with a ctest of its own in PATH. usage: steps_test.sh SOURCE_FOLDER
set -u
source_folder=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
ln -s "$source_folder/.ci" .ci
mkdir bin

# The output of ctest: `flaky` and `raced` fail in the first run, `raced` with a sanitizer's report, `broken` in every run.
cat >bin/ctest <<'TEXT'
#!/usr/bin/env bash
names=($CTEST_NAMES)
while (($#)); do
    case $1 in
        --output-junit) result=$2 ;;
        --rerun-failed) again=1 names=($(cat failed)) ;;
    esac
    shift
done
: >failed
{
    echo '<testsuite>'
    for name in "${names[@]}"; do
        status=run
        [[ $name == raced ]] && echo 'WARNING: ThreadSanitizer: data race (pid=1)' >&2
        [[ $name =~ ^(flaky|raced) && ! -v again || $name == broken* ]] && status=fail && echo "$name" >>failed
        [[ $name == skipped ]] && status=notrun
        echo "<testcase name=\"$name\" status=\"$status\"><system-out>words of $name</system-out></testcase>"
    done
    echo '</testsuite>'
} >"$result"
TEXT
chmod +x bin/ctest

# counted ARGUMENTS…: the output of a check of these tests only.
counted() {
    PATH=$folder/bin:$PATH bash -c '. .ci/steps.sh; time_limit=60; start_steps; tests "$@"; end_steps' counted "$@"
}

bad=0
# expect_last WORDS ARGUMENTS…: the last line, and that the exit status agrees with it.
expect_last() {
    local words=$1 printed status=0
    shift
    printed=$(counted "$@") || status=1
    if [[ $(tail -n 1 <<<"$printed") != "$words" || $status == $([[ $words == *" 0 failed"* ]] && echo 1 || echo 0) ]]; then
        printf 'tests %s with %s: expected "%s", got status %d and\n%s\n' "$*" "$CTEST_NAMES" "$words" "$status" "$printed"
        bad=1
    fi
}

export CTEST_NAMES='good flaky skipped'
expect_last '2 passed, 0 failed, 1 skipped; passed at the second try: flaky' system release
export CTEST_NAMES=''
expect_last '0 passed, 1 failed' system release
export CTEST_NAMES='good flaky broken'
expect_last '2 passed, 1 failed; passed at the second try: flaky' system release
for words in 'failed: broken' '| words of broken' '| words of flaky'; do
    [[ $(counted system release) == *"$words"* ]] || { echo "not said: $words" && bad=1; }
done
export CTEST_NAMES='broken1 broken2 flaky1 flaky2' # so many are no accident
expect_last '0 passed, 4 failed' system release
export CTEST_NAMES='good raced'
expect_last '1 passed, 1 failed' tsan release

# Steps beside the others: each is counted by its own end, whenever it is waited for. Here at the priority of all, so that they get
# a processor on a busy machine.
besides() {
    bash -c '. .ci/steps.sh; time_limit=60 lower=(); start_steps
        beside "good 9 true" "bad 9 false" "slow 1 sleep 60" "early 60 bash until_enough"
        step between 9 true; await bad; await good; await slow; await early 1; await unknown; end_steps'
}
echo 'until [[ -e build/check/enough ]]; do sleep 0.1; done; echo "check: as far as it came"' >until_enough
printed=$(besides)
[[ $(tail -n 1 <<<"$printed") == '3 passed, 3 failed' ]] || { echo "steps beside others: $printed" && bad=1; }
for words in 'passed   good  *[0-9]* s beside other steps' 'FAILED   bad  *exit status 1' 'FAILED   slow  *exit status 124' \
    'passed   early  *as far as it came' 'FAILED   unknown ' 'failed: bad slow unknown'; do
    grep -q "$words" <<<"$printed" || { echo "not said: $words" && bad=1; }
done

# A check that is ended ends them, too.
bash -c '. .ci/steps.sh; start_steps; lower=(); beside "long 60 sleep 61.5"; echo $lane >lane; step own 60 sleep 62.5' >/dev/null &
check=$!
until [[ -s lane ]] && [[ $(pgrep -s "$(cat lane)" sleep) ]] && pgrep -f 'sleep 62.5' >/dev/null; do sleep 0.1; done
kill -TERM "$check"
wait "$check"
for ((i = 0; i < 100; i++)); do
    pgrep -s "$(cat lane)" >/dev/null || pgrep -f 'sleep 62.5' >/dev/null || break
    sleep 0.1
done
! pgrep -s "$(cat lane)" >/dev/null || { echo "steps beside others live on" && bad=1; }
exit "$bad"
