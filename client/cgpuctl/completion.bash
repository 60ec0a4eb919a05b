# Completion of cgpuctl and cgpu-smi for bash. Verbs, options and fields are those that the programs' own help lists.

# _cgpu_options COMMAND…: the long options in its help.
_cgpu_options() {
    "$@" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

_cgpuctl() {
    local word=${COMP_WORDS[COMP_CWORD]} verb='' i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        # The rest is the command of `cgpuctl run`.
        [[ ${COMP_WORDS[i]} == -- ]] && COMPREPLY=() && return
        [[ -n $verb || ${COMP_WORDS[i]} == -* ]] || verb=${COMP_WORDS[i]}
    done
    if [[ -z $verb && $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null |
            sed -nE '/^Verbs:/,/^$/s/^  ([a-z-]+) .*/\1/p')" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_cgpu_options "$1" ${verb:+"$verb"})" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
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

complete -o filenames -F _cgpuctl cgpuctl
complete -o nospace -F _cgpu_smi cgpu-smi
