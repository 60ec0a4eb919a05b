# Completion of cgpu-smi for bash. Options and fields are those that the program's own help lists.

# _cgpu_options COMMAND: the long options in its help.
_cgpu_options() {
    "$1" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

_cgpu_smi() {
    local word=${COMP_WORDS[COMP_CWORD]} option='' before='' words
    # bash takes `=` for a word of its own.
    [[ $word == = ]] && option=${COMP_WORDS[COMP_CWORD - 1]} && word=''
    [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
        --query-gpu | --query-instance)
            words=$("$1" "--help-${option#--}" 2>/dev/null | sed 's/ .*//')
            ;;
        --format) words='csv noheader nounits' ;;
        *)
            mapfile -t COMPREPLY < <(compgen -W "$(_cgpu_options "$1")" -- "$word")
            return
            ;;
    esac
    # The last part of a list.
    [[ $word == *,* ]] && before=${word%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${word##*,}")
}

complete -o nospace -F _cgpu_smi cgpu-smi
