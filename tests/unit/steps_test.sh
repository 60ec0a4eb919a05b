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
exit "$bad"
