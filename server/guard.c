/* The table of rules, and the reading that fills a head's bits. */
#include "guard.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *text;
    bool unknown;
} RULES[] = {
    [GUARD_LINES] = {"the head is lines that end in CR LF, without NUL; a field is one line",
                     false},
    [GUARD_METHOD] = {"the method is a token, one blank before the target", false},
    [GUARD_TARGET] = {"the target is printable ASCII without blanks; other bytes are "
                      "percent-encoded",
                      false},
    [GUARD_NUL] = {"the target holds no %00", false},
    [GUARD_FRAGMENT] = {"the target holds no fragment", false},
    [GUARD_NAME] = {"a field's name is a token, directly before its colon", false},
    [GUARD_VALUE] = {"a field's value holds no control characters", false},
    [GUARD_ONE_HOST] = {"HTTP/1.1 has exactly one Host field, HTTP/1.0 at most one", false},
    [GUARD_HOST] = {"Host is a host and an optional port", false},
    [GUARD_ONE_LENGTH] = {"Content-Length is given at most once", false},
    [GUARD_TWO_FRAMINGS] = {"Content-Length and Transfer-Encoding exclude each other", false},
    [GUARD_ONE_CODING] = {"Transfer-Encoding is given at most once", false},
    [GUARD_OLD_CODING] = {"HTTP/1.0 has no Transfer-Encoding", false},
    [GUARD_CODING] = {"the only transfer coding here is chunked", true},
};

const char *guard_text(guard_rule rule)
{
    return RULES[rule].text;
}

bool guard_is_unknown(guard_rule rule)
{
    return RULES[rule].unknown;
}

void guard_break(guard_head *head, guard_rule rule)
{
    head->broken |= 1U << rule;
}

/* ---- characters ---- */

/* Sets of ASCII characters as bits, for 0 … 63 and 64 … 127. */
typedef uint64_t charset[2];

/* Letters, digits and !#$%&'*+-.^_`|~ */
static const charset TOKEN = {0x03ff6cfa00000000, 0x57ffffffc7fffffe};

/* Letters, digits and -._~!$&'()*+,;= */
static const charset HOST = {0x2bff7fd200000000, 0x47fffffe87fffffe};

/* Digits and letters as in hexadecimal numbers, and in addresses with . and : */
static const charset HEX = {0x03ff000000000000, 0x0000007e0000007e};
static const charset ADDRESS = {0x07ff400000000000, 0x0000007e0000007e};

static bool is_in(const charset set, char c)
{
    unsigned char at = (unsigned char)c;
    return at < 128 && set[at / 64] >> at % 64 & 1;
}

/* How many characters from the start on are in the set. */
static size_t span(const charset set, const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && is_in(set, text[i]))
        i++;
    return i;
}

static bool is_token(const char *text, size_t size)
{
    return size > 0 && span(TOKEN, text, size) == size;
}

/* Eight bytes at a time: a word tells whether one of its bytes may be what is looked for, and
 * only then they are looked at one by one. */
#define EACH_BYTE(x) (UINT64_C(0x0101010101010101) * (x))

/* Nonzero if a byte is below `limit`, which is at most 128; bytes from 128 on are not. */
static uint64_t any_below(uint64_t bytes, unsigned limit)
{
    return (bytes - EACH_BYTE(limit)) & ~bytes & EACH_BYTE(0x80);
}

static uint64_t any_equal(uint64_t bytes, unsigned char c)
{
    return any_below(bytes ^ EACH_BYTE(c), 1);
}

static uint64_t any_control(uint64_t bytes)
{
    return any_below(bytes, ' ') | any_equal(bytes, 127);
}

static uint64_t any_strange(uint64_t bytes)
{
    return any_below(bytes, '!') | any_equal(bytes, 127) | (bytes & EACH_BYTE(0x80)) |
           any_equal(bytes, '#') | any_equal(bytes, '%');
}

static bool any_word(const char *text, size_t size, uint64_t (*any)(uint64_t bytes))
{
    uint64_t bytes, found = 0;
    if (size < sizeof bytes)
        return true; /* one by one */
    for (size_t i = 0; i + sizeof bytes <= size; i += sizeof bytes) {
        memcpy(&bytes, text + i, sizeof bytes);
        found |= any(bytes);
    }
    memcpy(&bytes, text + size - sizeof bytes, sizeof bytes);
    return (found | any(bytes)) != 0;
}

static bool holds_control(const char *text, size_t size)
{
    if (!any_word(text, size, any_control))
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\t') || c == 127)
            return true;
    }
    return false;
}

/* ---- the request line ---- */

static void read_target(guard_head *head, const char *target)
{
    size_t size = strlen(target);
    if (!any_word(target, size, any_strange))
        return;
    for (const char *at = target; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c <= ' ' || c >= 127)
            guard_break(head, GUARD_TARGET);
        else if (c == '#')
            guard_break(head, GUARD_FRAGMENT);
        else if (c == '%' && at[1] == '0' && at[2] == '0')
            guard_break(head, GUARD_NUL);
    }
    if (size == 0)
        guard_break(head, GUARD_TARGET);
}

void guard_line(guard_head *ret_head, const char *method, const char *target,
                const char *version)
{
    *ret_head = (guard_head){.old = strcmp(version, "HTTP/1.0") == 0};
    if (!is_token(method, strlen(method)))
        guard_break(ret_head, GUARD_METHOD);
    read_target(ret_head, target);
}

/* ---- fields ---- */

/* An address in brackets at the start of `text`: its size, 0 if there is none. */
static size_t bracketed(const char *text, size_t size)
{
    if (size < 4 || text[0] != '[')
        return 0;
    size_t inner = span(ADDRESS, text + 1, size - 1);
    return inner >= 2 && inner + 1 < size && text[inner + 1] == ']' ? inner + 2 : 0;
}

/* A name or an IPv4 address at the start of `text`: its size. */
static size_t registered(const char *text, size_t size)
{
    size_t i = span(HOST, text, size);
    while (size - i > 2 && text[i] == '%' && is_in(HEX, text[i + 1]) && is_in(HEX, text[i + 2]))
        i += 3 + span(HOST, text + i + 3, size - i - 3);
    return i;
}

/* uri-host [ ":" port ] (RFC 3986, section 3.2.2). */
static bool is_host(const char *text, size_t size)
{
    size_t i = bracketed(text, size);
    if (i == 0)
        i = registered(text, size);
    if (i < size && text[i] == ':')
        for (i++; i < size && text[i] >= '0' && text[i] <= '9';)
            i++;
    return i == size;
}

/* Whether the name is `wanted`, which is written in lower case. */
static bool is_named(const char *name, size_t size, const char *wanted, size_t wanted_size)
{
    return size == wanted_size && strncasecmp(name, wanted, size) == 0;
}
#define IS_NAMED(name, size, wanted) is_named(name, size, wanted, sizeof(wanted) - 1)

/* Values come without the blanks before them. */
static size_t without_blanks(const char *value, size_t size)
{
    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t'))
        size--;
    return size;
}

void guard_field(guard_head *head, const char *name, size_t name_size, const char *value,
                 size_t value_size)
{
    if (!is_token(name, name_size))
        guard_break(head, GUARD_NAME);
    if (holds_control(value, value_size))
        guard_break(head, GUARD_VALUE);
    if (IS_NAMED(name, name_size, "host")) {
        head->hosts++;
        if (!is_host(value, without_blanks(value, value_size)))
            guard_break(head, GUARD_HOST);
    } else if (IS_NAMED(name, name_size, "content-length")) {
        head->lengths++;
    } else if (IS_NAMED(name, name_size, "transfer-encoding")) {
        head->codings++;
        if (!IS_NAMED(value, value_size, "chunked"))
            guard_break(head, GUARD_CODING);
    }
}

guard_rule guard_end(guard_head *head)
{
    if (head->hosts != 1 && !(head->old && head->hosts == 0))
        guard_break(head, GUARD_ONE_HOST);
    if (head->lengths > 1)
        guard_break(head, GUARD_ONE_LENGTH);
    if (head->lengths > 0 && head->codings > 0)
        guard_break(head, GUARD_TWO_FRAMINGS);
    if (head->codings > 1)
        guard_break(head, GUARD_ONE_CODING);
    if (head->old && head->codings > 0)
        guard_break(head, GUARD_OLD_CODING);
    guard_rule rule = head->broken ? GUARD_LINES : GUARD_FINE;
    while (rule < GUARD_FINE && !(head->broken & 1U << rule))
        rule++;
    return rule;
}
