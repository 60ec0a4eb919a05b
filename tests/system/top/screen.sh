# Writes the screen of cgpuctl top into docs/cgpuctl.md, from a node with four jobs under load:
#   tests/lab --gpus 'V100:16130MiB*2' -- bash tests/system/top/screen.sh
. "$(dirname "$0")/../lib.sh"
page=$(dirname "$0")/../../../docs/cgpuctl.md
export TMUX_TMPDIR=$scratch LC_ALL=C.UTF-8
asks=("${four_of_15[@]}")

expect cgpuctl set-policy 0 weighted
job train --gpus 0 --weight 1 -- burn --forever --kernel-us 1000
job web --gpus 0 --weight 2 -- burn --forever --kernel-us 1000
job render --gpus 1 -- burn --forever --kernel-us 4000
job notebook --gpus 1 -- alloc --mib 300 --hold
for name in train web render notebook; do wait_for 20 is_ready "$name"; done

tm() { tmux -u -L screen -f /dev/null "$@"; }
trap 'tm kill-server; finish $?' EXIT
screen() { tm capture-pane -p -t pane; }
# full: the histories have as many readings as are shown.
full() { (($(screen | grep -cE '^  [01] (web|train|render) .*[▁▂▃▄▅▆▇█]{9} +[0-9]') == 3)); }
expect tm new-session -d -s pane -x 80 -y 11 'cgpuctl top'
wait_for 30 full
{ printf '```\n' && screen && printf '```\n'; } >"$scratch/screen"
expect sed -i -e "/<!-- written by tests.system.top.screen.sh -->/,/<!-- end of the screen -->/ {
    /<!-- written by/r $scratch/screen
    /<!--/!d
}" "$page"
for name in train web render notebook; do end_job "$name"; done
