# Reads `posenc-server --help` and writes the manual page or a shell's completion:
#
#   posenc-server --help | awk -v form=man|bash|zsh -v version=0.0.0 -v date=2000-01-01 -f manual.awk

# A flag begins at column 2; its help follows in the same line and in indented ones, up to the one that names
# the variable and the default. An action has neither.
match($0, /^  --[a-z-]+( [^ ]+)?  +/) {
    count++
    flag[count] = substr($1, 3)
    split(substr($0, 1, RLENGTH), words, " ")
    value[count] = words[2]
    help[count] = substr($0, RLENGTH + 1)
    next
}
/^          / && match($0, /POSENC_[A-Z_]+, default /) {
    variable[count] = substr($0, RSTART, RLENGTH - length(", default "))
    standard[count] = substr($0, RSTART + RLENGTH)
    next
}
/^          / {
    sub(/^ +/, "")
    help[count] = help[count] " " $0
}

END {
    if (count == 0) {
        print "manual.awk: --help lists no flags" > "/dev/stderr"
        exit 1
    }
    if (form == "man")
        write_man()
    else if (form == "bash")
        write_bash()
    else
        write_zsh()
}

# ---- the manual page ----

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}

# Text of a table's row as a sentence.
function sentence(text) {
    return toupper(substr(text, 1, 1)) substr(text, 2) "."
}

function write_flags(with_value,    i) {
    for (i = 1; i <= count; i++) {
        if ((value[i] != "") != with_value)
            continue
        printf ".TP\n\\fB\\-\\-%s\\fR%s\n%s\n", roff(flag[i]),
            value[i] == "" ? "" : " \\fI" roff(value[i]) "\\fR", roff(sentence(help[i]))
        if (value[i] != "")
            printf ".br\nEnvironment: \\fB%s\\fR. Default: %s.\n", variable[i], roff(standard[i])
    }
}

function write_man() {
    printf ".\\\" Written from --help by manual.awk.\n.TH POSENC\\-SERVER 1 \"%s\" \"posenc %s\" \"User Commands\"\n", date, version
    print ".SH NAME\nposenc\\-server \\- positional encodings over HTTP"
    print ".SH SYNOPSIS\n.B posenc\\-server\n[\\fB\\-\\-\\fISETTING VALUE\\fR | \\fB\\-\\-\\fISETTING\\fB=\\fIVALUE\\fR]..."
    print ".SH DESCRIPTION"
    print "The server computes positional encodings, from sinusoids to RoPE and ALiBi, and serves them as JSON, npy,"
    print "safetensors, raw bytes, CSV or pictures. Every entry is the correctly rounded value of its formula."
    print "It serves a page for browsers at / and its own description at \\%/openapi.json."
    print ".SH SETTINGS\nA flag beats the environment variable, which beats the default."
    print ".I BYTES\nis a number; KiB, MiB or GiB may follow it."
    write_flags(1)
    print ".SH ACTIONS\nWith one of these the server does not serve."
    write_flags(0)
    print ".SH SIGNALS\nAfter SIGTERM the server drains: /health/ready answers 503, requests in progress end, and then"
    print "the server does. SIGINT, or a second signal, stops it at once."
    print ".SH EXIT STATUS\n.TP\n0\nThe server has been stopped, or the action has succeeded."
    print ".TP\n1\nThe server cannot start, or is not ready.\n.TP\n2\nA setting is wrong."
    print ".SH EXAMPLES\n.nf\nposenc\\-server \\-\\-port 8081 \\-\\-cache\\-bytes 1GiB"
    print "curl \\(aqhttp://127.0.0.1:8081/v1/encodings/sinusoidal?length=4&dim=8\\(aq\n.fi"
    print ".SH SEE ALSO\n.BR curl (1),\n.BR systemctl (1)"
}

# ---- completion ----

# What may stand for a value: "files", "directories", words, or "" for anything.
function candidates(placeholder) {
    if (placeholder == "FILE" || placeholder == "PATH")
        return "files"
    if (placeholder == "DIRECTORY")
        return "directories"
    if (placeholder !~ /\|/)
        return ""
    gsub(/\|/, " ", placeholder)
    return placeholder
}

function write_bash(    i, words, kind, flags) {
    print "# Completion of posenc-server for bash, written from --help by manual.awk."
    print "_posenc_server() {"
    print "    local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]}"
    print "    if [[ $word == = ]]; then # bash splits --flag=value into three words"
    print "        word="
    print "    elif [[ $flag == = ]]; then"
    print "        flag=${COMP_WORDS[COMP_CWORD - 2]}"
    print "    fi"
    print "    COMPREPLY=()"
    print "    [[ $word == -* ]] || case $flag in"
    for (i = 1; i <= count; i++) {
        flags = flags " --" flag[i]
        if (value[i] == "")
            continue
        kind = candidates(value[i])
        if (kind == "files" || kind == "directories")
            words = "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -" substr(kind, 1, 1) " -- \"$word\")"
        else
            words = kind == "" ? "" : "mapfile -t COMPREPLY < <(compgen -W \"" kind "\" -- \"$word\")"
        printf "    --%s) %s%sreturn ;;\n", flag[i], words, words == "" ? "" : "; "
    }
    print "    esac"
    printf "    mapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$word\")\n", substr(flags, 2)
    print "}"
    print "complete -F _posenc_server posenc-server"
}

function write_zsh(    i, kind, action, text) {
    print "#compdef posenc-server\n# Completion for zsh, written from --help by manual.awk."
    printf "_arguments"
    for (i = 1; i <= count; i++) {
        text = help[i]
        gsub(/'/, "'\\''", text)
        gsub(/[\[\]:]/, "\\\\&", text)
        kind = candidates(value[i])
        action = kind == "files" ? "_files" : kind == "directories" ? "_files -/" : kind == "" ? " " : "(" kind ")"
        if (value[i] == "")
            printf " \\\n    '(- *)--%s[%s]'", flag[i], text
        else
            printf " \\\n    '--%s=[%s]:%s:%s'", flag[i], text, value[i], action
    }
    print ""
}
