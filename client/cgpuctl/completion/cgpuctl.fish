# Completion of cgpuctl for fish. cgpuctl itself says what can be put for the word at the cursor.
function __cgpuctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case ':files*'
            __fish_complete_path "$current"
        case ':command*'
            set -l place (contains -i -- -- $words)
            __fish_complete_subcommand --commandline $words[(math $place + 1)..-1] "$current"
        case '*'
            printf '%s\n' $lines
    end
end
complete -c cgpuctl -f -a '(__cgpuctl_complete)'
