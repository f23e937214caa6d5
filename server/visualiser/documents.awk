# Writes documents in Markdown, as far as ours use it, as one page of HTML. A link to a document
# that is given, or to a heading in it, leads there in the page; another one becomes its text.

function escape(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

function slug(heading) {
    heading = tolower(heading)
    gsub(/[^a-z0-9_ -]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

# The path that a link of the document at `path` names, without `.` and `..`.
function resolve(link, parts, count, i, kept) {
    if (link == "")
        return path
    count = split(folder link, parts, "/")
    kept = ""
    for (i = 1; i <= count; i++)
        if (parts[i] == "..")
            sub(/[^\/]*\/$/, "", kept)
        else if (parts[i] != "." && parts[i] != "")
            kept = kept parts[i] (i < count ? "/" : "")
    return kept
}

function anchor(target, cut, heading) {
    if (target ~ /^https?:/)
        return target
    cut = index(target, "#")
    heading = cut ? "--" substr(target, cut + 1) : ""
    target = resolve(cut ? substr(target, 1, cut - 1) : target)
    return target in given ? "#" target heading : ""
}

# Code spans are put aside as \001NUMBER\002, so that nothing in them is taken for a link.
function inline(text, codes, count, done, label, target, where) {
    count = 0
    while (match(text, /`[^`]+`/)) {
        codes[++count] = "<code>" escape(substr(text, RSTART + 1, RLENGTH - 2)) "</code>"
        text = substr(text, 1, RSTART - 1) "\001" count "\002" substr(text, RSTART + RLENGTH)
    }
    text = escape(text)
    done = ""
    while (match(text, /\[[^]]*\]\([^) ]+\)/)) {
        label = substr(text, RSTART + 1, RLENGTH - 2)
        target = substr(label, index(label, "](") + 2)
        label = substr(label, 1, index(label, "](") - 1)
        where = anchor(target)
        done = done substr(text, 1, RSTART - 1) (where ? "<a href=\"" where "\">" label "</a>" : label)
        text = substr(text, RSTART + RLENGTH)
    }
    text = done text
    while (match(text, /\*\*[^*]+\*\*/))
        text = substr(text, 1, RSTART - 1) "<b>" substr(text, RSTART + 2, RLENGTH - 4) "</b>" \
            substr(text, RSTART + RLENGTH)
    while (match(text, /\001[0-9]+\002/))
        text = substr(text, 1, RSTART - 1) codes[substr(text, RSTART + 1, RLENGTH - 2)] \
            substr(text, RSTART + RLENGTH)
    return text
}

function end_text() {
    if (text != "" && text !~ /^!\[/)
        print "<" (listed ? "li" : "p") ">" inline(text)
    text = ""
}

function end_block() {
    end_text()
    if (listed)
        print "</ul>"
    if (rows)
        print "</table>"
    listed = rows = 0
}

function row(line, cells, count, i, cell) {
    gsub(/\\\|/, "\003", line)
    count = split(line, cells, "|")
    if (!rows++)
        print "<table border=\"1\" cellpadding=\"4\">"
    else if (line ~ /^\|[-|: ]+$/)
        return
    printf "<tr>"
    for (i = 2; i < count; i++) {
        cell = cells[i]
        gsub(/\003/, "|", cell)
        printf "<%s>%s", rows == 1 ? "th" : "td", inline(cell)
    }
    print ""
}

BEGIN {
    for (i = 1; i < ARGC; i++)
        given[ARGV[i]] = 1
    print "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
    print "<meta name=\"color-scheme\" content=\"light dark\">\n<title>posenc</title>"
}

FNR == 1 {
    end_block()
    if (indented)
        print "</pre>"
    indented = 0
    path = folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    print (NR == 1 ? "" : "<hr>\n") "<a id=\"" path "\"></a>"
}

/^```/ {
    end_block()
    fenced = !fenced
    print fenced ? "<pre>" : "</pre>"
    next
}
fenced {
    print escape($0)
    next
}
indented && !/^    / {
    print "</pre>"
    indented = 0
}
/^    / && text == "" && !listed {
    if (!indented++)
        print "<pre>"
    print escape(substr($0, 5))
    next
}
/^#+ / {
    end_block()
    level = index($0, " ") - 1
    heading = substr($0, level + 2)
    printf "<h%d id=\"%s--%s\">%s</h%d>\n", level, path, slug(heading), inline(heading), level
    next
}
/^<!--/ { next }
/^\|/ {
    end_text()
    row($0)
    next
}
/^- / {
    end_text()
    if (!listed++)
        print "<ul>"
    text = substr($0, 3)
    next
}
/^[ \t]*$/ {
    if (rows || !listed)
        end_block()
    else
        end_text()
    next
}
{
    if (listed && text == "" && !/^ /)
        end_block()
    sub(/^ +/, "")
    text = text (text == "" ? "" : " ") $0
}

END {
    end_block()
    print "</html>"
}
