#!/bin/bash
# Sets how a GPU's compute is divided, unless it is divided so already, and then prints every change of the GPU. As root.
# usage: set-policy.sh GPU POLICY        such as: set-policy.sh 0 weighted
set -euo pipefail
gpu=$(busctl --json=short call org.cgpu1 /org/cgpu1 org.cgpu1.Manager FindGpu s "$1" | jq -r '.data[0]')
if [[ $(busctl get-property org.cgpu1 "$gpu" org.cgpu1.Gpu PolicyName) != "s \"$2\"" ]]; then
    busctl call org.cgpu1 "$gpu" org.cgpu1.Gpu SetPolicy 'sa{sv}' "$2" 0
fi
busctl --json=short --match "type='signal',interface='org.freedesktop.DBus.Properties',path='$gpu'" monitor |
    jq -c --unbuffered 'select(.type == "signal") | .payload.data[1] | map_values(.data)'
