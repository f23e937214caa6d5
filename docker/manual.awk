# Reads what `--help` of a program prints and writes its manual page or a shell's completion:
#
#   posenc --help | awk -v program=posenc -v page=posenc.1 -v form=man|bash|zsh -v version=0.0.0 -v date=2000-01-01 \
#       -f manual.awk
#
# `page` has the text of the manual page, and lines such as @ALL@ where the flags go.

# A flag begins at column 2, perhaps with a letter; its help follows in the same line and in indented ones. Of a
# setting the last one names the variable and the default.
match($0, /^  (-[a-zA-Z], )?--[a-z-]+( [^ ]+)?  +/) {
    count++
    split(substr($0, 1, RLENGTH), words, " ")
    letter[count] = words[1] ~ /^-[a-zA-Z],$/ ? substr(words[1], 2, 1) : ""
    flag[count] = substr(words[letter[count] == "" ? 1 : 2], 3)
    value[count] = words[letter[count] == "" ? 2 : 3]
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
/^  \// {
    targets[++target_count] = $0
}
/^Schemes:/ {
    in_schemes = 1
    next
}
in_schemes {
    for (i = 1; i <= NF; i++)
        schemes = schemes (schemes == "" ? "" : " ") $i
}

END {
    if (count == 0) {
        print "manual.awk: --help lists no flags" > "/dev/stderr"
        exit 1
    }
    name = program
    gsub(/-/, "_", name)
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

# The flags of a kind: ALL, WITH VALUE, WITHOUT VALUE.
function write_flags(kind,    i) {
    for (i = 1; i <= count; i++) {
        if (kind != "ALL" && (value[i] != "") != (kind == "WITH VALUE"))
            continue
        printf ".TP\n%s\\fB\\-\\-%s\\fR%s\n%s\n", letter[i] == "" ? "" : "\\fB\\-" letter[i] "\\fR, ",
            roff(flag[i]), value[i] == "" ? "" : " \\fI" roff(value[i]) "\\fR", roff(sentence(help[i]))
        if (variable[i] != "")
            printf ".br\nEnvironment: \\fB%s\\fR. Default: %s.\n", variable[i], roff(standard[i])
    }
}

function write_man(    line, i) {
    print ".\\\" Written from --help by manual.awk."
    while ((getline line < page) > 0) {
        gsub(/@DATE@/, date, line)
        gsub(/@VERSION@/, version, line)
        if (line == "@TARGETS@")
            for (i = 1; i <= target_count; i++)
                print roff(targets[i])
        else if (line == "@SCHEMES@")
            print roff(schemes) "."
        else if (line ~ /^@.*@$/)
            write_flags(substr(line, 2, length(line) - 2))
        else
            print line
    }
}

# ---- completion ----

# What may stand for a value: "files", "directories", words, or "" for anything.
function candidates(placeholder) {
    if (placeholder == "FILE" || placeholder == "PATH")
        return "files"
    if (placeholder == "DIRECTORY")
        return "directories"
    if (placeholder == "METHOD")
        return "GET HEAD POST PUT DELETE"
    if (placeholder !~ /\|/)
        return ""
    gsub(/\|/, " ", placeholder)
    return placeholder
}

# The targets as words; those of a scheme for each scheme.
function target_words(    i, j, words, all, path) {
    for (i = 1; i <= target_count; i++) {
        split(targets[i], words, " ")
        path = words[1]
        if (sub(/\{scheme\}/, "", path))
            for (j = split(schemes, words, " "); j > 0; j--)
                all = all " " path words[j]
        else {
            sub(/\{.*/, "", path)
            all = all " " path
        }
    }
    return substr(all, 2)
}

function write_bash(    i, words, kind, flags, names) {
    print "# Completion of " program " for bash, written from --help by manual.awk."
    print "_" name "() {"
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
        names = (letter[i] == "" ? "" : "-" letter[i] " | ") "--" flag[i]
        kind = candidates(value[i])
        if (kind == "files" || kind == "directories")
            words = "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -" substr(kind, 1, 1) " -- \"$word\")"
        else
            words = kind == "" ? "" : "mapfile -t COMPREPLY < <(compgen -W \"" kind "\" -- \"$word\")"
        printf "    %s) %s%sreturn ;;\n", names, words, words == "" ? "" : "; "
    }
    print "    esac"
    if (target_count > 0) {
        print "    if [[ $word != -* ]]; then # a target, and after it a file"
        print "        if [[ \" ${COMP_WORDS[*]:1:COMP_CWORD-1}\" == *\\ ?([\\\"\\'])/* ]]; then"
        print "            compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$word\")"
        print "        else"
        print "            compopt -o nospace 2>/dev/null"
        printf "            mapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"${word#[\\'\\\"]}\")\n", target_words()
        print "        fi\n        return\n    fi"
    }
    printf "    mapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$word\")\n", substr(flags, 2)
    print "}"
    print "complete -F _" name " " program
}

function write_zsh(    i, kind, action, text, names) {
    print "#compdef " program "\n# Completion for zsh, written from --help by manual.awk."
    printf "_arguments"
    for (i = 1; i <= count; i++) {
        text = help[i]
        gsub(/'/, "'\\''", text)
        gsub(/[\[\]:]/, "\\\\&", text)
        kind = candidates(value[i])
        action = kind == "files" ? "_files" : kind == "directories" ? "_files -/" : kind == "" ? " " : "(" kind ")"
        names = letter[i] == "" ? "'--" flag[i] : "'(-" letter[i] " --" flag[i] ")'{-" letter[i] (value[i] == "" ? "" : "+") ",--" flag[i]
        if (value[i] == "" && variable[i] == "" && letter[i] == "")
            printf " \\\n    '(- *)--%s[%s]'", flag[i], text
        else if (value[i] == "")
            printf " \\\n    %s}'[%s]'", names, text
        else
            printf " \\\n    %s=%s[%s]:%s:%s'", names, letter[i] == "" ? "" : "}'", text, value[i], action
    }
    if (target_count > 0)
        printf " \\\n    '1:target:(%s)' '2:file:_files'", target_words()
    print ""
}
