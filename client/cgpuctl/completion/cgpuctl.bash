# Completion of cgpuctl for bash. cgpuctl itself says what can be put for the word at the cursor.
_cgpuctl() {
    local word about place
    COMPREPLY=()
    while IFS=$'\t' read -r word about; do
        case $word in
            :files)
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
                ;;
            :command)
                for ((place = 1; place < COMP_CWORD; place++)); do
                    [[ ${COMP_WORDS[place]} != -- ]] || break
                done
                if declare -F _command_offset >/dev/null; then
                    _command_offset $((place + 1))
                else
                    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
                fi
                ;;
            *) COMPREPLY+=("$word") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cgpuctl cgpuctl
