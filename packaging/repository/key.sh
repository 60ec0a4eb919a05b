# The key that signs a release. Sourced by packaging/release and packaging/repository/add.

# open_key KEY: makes `key` the fingerprint of the secret key to sign with: KEY is a file that gpg has exported, or what gpg calls a key
# in its own store (an id, a fingerprint, an address). Afterwards close_key must be called.
open_key() {
    key_home=''
    if [[ -f $1 ]]; then
        # In a store of its own, so that the caller's is as before.
        key_home=$(mktemp -d)
        export GNUPGHOME=$key_home
        gpg --batch --quiet --import -- "$1" 2>"$key_home/said" || {
            cat "$key_home/said" >&2
            echo "release: gpg can't read a key from $1: its message is above. Try: gpg --armor --export-secret-keys ID >FILE" >&2
            return 1
        }
        key=$(secret_keys)
        [[ -n $key ]] || {
            echo "release: $1 has no secret key to sign with. Try: gpg --armor --export-secret-keys ID >FILE" >&2
            return 1
        }
    else
        key=$(secret_keys "$1")
        [[ -n $key ]] || {
            echo "release: gpg has no secret key $1 on this machine. Try: gpg --list-secret-keys, or a file with the key" >&2
            return 1
        }
    fi
    [[ $key != *$'\n'* ]] || {
        echo "release: $1 is more than one secret key. Try: the fingerprint of one: ${key//$'\n'/, }" >&2
        return 1
    }
    [[ $key != */* ]] || {
        echo "release: the key $1 can't sign: it is expired, revoked, or for other uses. Try: another key" >&2
        return 1
    }
}

# secret_keys [NAME]: the fingerprints of the secret keys, a line each; with / behind those that can't sign.
secret_keys() {
    gpg --batch --with-colons --list-secret-keys ${1:+-- "$1"} 2>/dev/null |
        awk -F: '$1 == "sec" { ends = $12 ~ /S/ && $2 !~ /[eri]/ ? "" : "/"; wanted = 1 } $1 == "fpr" && wanted { print $10 ends; wanted = 0 }' ||
        true # none
}

close_key() {
    [[ -n ${key_home-} ]] || return 0
    gpgconf --kill all
    rm -rf "$key_home"
}

# sign FILE OUT [OPTION…]: writes OUT, FILE's signature, at once: a signature of its own, or with --clear-sign what is signed, too.
sign() {
    local file=$1 out=$2
    shift 2
    [[ $# != 0 ]] || set -- --detach-sign
    gpg --batch --yes --quiet --armor --digest-algo SHA512 --local-user "$key" --output "$out.new" "$@" -- "$file" || {
        echo "release: gpg can't sign with $key: its message is above. Try: gpg --sign --local-user $key FILE" >&2
        return 1
    }
    mv -f "$out.new" "$out"
}

# sign_rpm FILE: signs a package in place, unless it is signed.
sign_rpm() {
    # shellcheck disable=SC2016 # rpm's own
    [[ $(rpm -qp --nosignature --qf '%|RSAHEADER?{signed}:{%|DSAHEADER?{signed}:{}|}|' "$1") != signed ]] || return 0
    # Debian's rpm looks for gpg2, which is called gpg there.
    GPG_TTY=${GPG_TTY-$(tty || true)} rpmsign --define "__gpg $(command -v gpg)" --define "_gpg_name $key" --define '_gpg_digest_algo sha512' --addsign "$1" >/dev/null || {
        echo "release: rpmsign can't sign $1 with $key: its message is above. Try: gpg --sign --local-user $key FILE" >&2
        return 1
    }
}

# publish_key FOLDER: FOLDER/cgpu.asc is the key to verify with. It never changes there, because nodes have installed it.
publish_key() {
    local known
    if [[ -e $1/cgpu.asc ]]; then
        known=$(gpg --batch --with-colons --show-keys "$1/cgpu.asc" | awk -F: '$1 == "fpr" { print $10; exit }')
        [[ $known == "$key" ]] || {
            echo "release: $1 is signed with $known, which its nodes believe, and not with $key. Try: --key $known, or another folder" >&2
            return 1
        }
    else
        gpg --batch --armor --export "$key" >"$1/cgpu.asc.new" && mv "$1/cgpu.asc.new" "$1/cgpu.asc"
    fi
}
