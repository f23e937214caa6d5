#include "http/guard.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *text;
    bool is_unimplemented;
} RULES[] = {
    [GUARD_LINES] = {.text = "the lines of the head must end in CR LF and contain no NUL; a "
                             "field must be on one line"},
    [GUARD_METHOD] = {.text = "the method must be a token, followed by one blank and the "
                              "target"},
    [GUARD_TARGET] = {.text = "the target must be printable ASCII without blanks; other bytes "
                              "must be percent-encoded"},
    [GUARD_NUL] = {.text = "the target must not contain %00"},
    [GUARD_FRAGMENT] = {.text = "the target must not contain a fragment"},
    [GUARD_AUTHORITY] = {.text = "a target in absolute form must have a host, with an optional "
                                 "port and no user"},
    [GUARD_NAME] = {.text = "a field's name must be a token, directly followed by a colon"},
    [GUARD_VALUE] = {.text = "a field's value must not contain control characters"},
    [GUARD_LENGTH] = {.text = "Content-Length must be one number in decimal digits, without a "
                              "sign and without blanks"},
    [GUARD_ONE_HOST] = {.text = "HTTP/1.1 needs exactly one Host field; HTTP/1.0 allows at "
                                "most one"},
    [GUARD_HOST] = {.text = "Host must be a host name or an IP address, and optionally a port"},
    [GUARD_ONE_LENGTH] = {.text = "Content-Length must be given at most once"},
    [GUARD_TWO_FRAMINGS] = {.text = "Content-Length and Transfer-Encoding exclude each other"},
    [GUARD_ONE_CODING] = {.text = "Transfer-Encoding must be given at most once"},
    [GUARD_OLD_CODING] = {.text = "HTTP/1.0 does not allow Transfer-Encoding"},
    [GUARD_CODING] = {.text = "chunked is the only transfer coding that is implemented",
                      .is_unimplemented = true},
};

const char *guard_text(guard_rule rule)
{
    return RULES[rule].text;
}

bool guard_is_unimplemented(guard_rule rule)
{
    return RULES[rule].is_unimplemented;
}

void guard_break(guard_head *head, guard_rule rule)
{
    head->broken |= 1U << rule;
}

/* ---- characters ---- */

/* A set of ASCII characters: one bit for each, 0 … 63 in the first word, 64 … 127 in the
 * second. */
typedef uint64_t charset[2];

/* Letters, digits and !#$%&'*+-.^_`|~ */
static const charset TOKEN = {0x03ff6cfa00000000, 0x57ffffffc7fffffe};

/* Letters, digits and -._~!$&'()*+,;= */
static const charset HOST = {0x2bff7fd200000000, 0x47fffffe87fffffe};

static const charset DIGITS = {0x03ff000000000000, 0};

/* Hexadecimal digits; and the same with . and : as in IP addresses */
static const charset HEX = {0x03ff000000000000, 0x0000007e0000007e};
static const charset ADDRESS = {0x07ff400000000000, 0x0000007e0000007e};

static bool has_character(const charset set, char c)
{
    unsigned char code = (unsigned char)c;
    return code < 128 && set[code / 64] >> code % 64 & 1;
}

/* The number of leading characters that are in the set. */
static size_t count_leading_characters(const charset set, const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && has_character(set, text[i]))
        i++;
    return i;
}

static bool is_token(const char *text, size_t size)
{
    return size > 0 && count_leading_characters(TOKEN, text, size) == size;
}

static bool holds_control(const char *text, size_t size)
{
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
    if (*target == '\0')
        guard_break(head, GUARD_TARGET);
    for (const char *next = target; *next; next++) {
        unsigned char c = (unsigned char)*next;
        if (c <= ' ' || c >= 127)
            guard_break(head, GUARD_TARGET);
        else if (c == '#')
            guard_break(head, GUARD_FRAGMENT);
        else if (c == '%' && next[1] == '0' && next[2] == '0')
            guard_break(head, GUARD_NUL);
    }
}

const char *guard_authority(const char *target, size_t *ret_size)
{
    static const char scheme[] = "http://";
    if (*target == '/' || strncasecmp(target, scheme, sizeof scheme - 1) != 0)
        return NULL;
    const char *authority = target + sizeof scheme - 1;
    *ret_size = strcspn(authority, "/?#");
    return authority;
}

const char *guard_path(const char *target)
{
    size_t size;
    const char *authority = guard_authority(target, &size);
    return authority ? authority + size : target;
}

bool guard_take_host(char *target, char **ret_host)
{
    size_t size;
    const char *authority = guard_authority(target, &size);
    *ret_host = NULL;
    if (!authority)
        return true;
    *ret_host = strndup(authority, size);
    if (!*ret_host)
        return false;
    const char *path = authority + size;
    size_t slash = *path != '/'; /* an empty path is that of the root */
    memmove(target + slash, path, strlen(path) + 1);
    target[0] = '/';
    return true;
}

static bool is_host(const char *text, size_t size);

/* Like Host, but not empty (RFC 9110, section 4.2.1). */
static void read_authority(guard_head *head, const char *target)
{
    size_t size;
    const char *authority = guard_authority(target, &size);
    if (authority && (size == 0 || *authority == ':' || !is_host(authority, size)))
        guard_break(head, GUARD_AUTHORITY);
}

void guard_line(guard_head *ret_head, const char *method, const char *target,
                const char *version)
{
    *ret_head = (guard_head){.is_http_1_0 = strcmp(version, "HTTP/1.0") == 0};
    if (!is_token(method, strlen(method)))
        guard_break(ret_head, GUARD_METHOD);
    read_target(ret_head, target);
    read_authority(ret_head, target);
}

/* ---- fields ---- */

/* The size of an IP address in brackets at the start of `text`; 0 if there is none. */
static size_t bracketed_size(const char *text, size_t size)
{
    if (size < 4 || text[0] != '[')
        return 0;
    size_t inner = count_leading_characters(ADDRESS, text + 1, size - 1);
    return inner >= 2 && inner + 1 < size && text[inner + 1] == ']' ? inner + 2 : 0;
}

/* The size of a host name or an IPv4 address at the start of `text`. */
static size_t host_name_size(const char *text, size_t size)
{
    size_t i = count_leading_characters(HOST, text, size);
    while (size - i > 2 && text[i] == '%' && has_character(HEX, text[i + 1]) &&
           has_character(HEX, text[i + 2]))
        i += 3 + count_leading_characters(HOST, text + i + 3, size - i - 3);
    return i;
}

/* uri-host [ ":" port ] (RFC 3986, section 3.2.2). */
static bool is_host(const char *text, size_t size)
{
    size_t i = bracketed_size(text, size);
    if (i == 0)
        i = host_name_size(text, size);
    if (i < size && text[i] == ':') {
        i++;
        while (i < size && text[i] >= '0' && text[i] <= '9')
            i++;
    }
    return i == size;
}

/* Whether two names are equal; case does not matter. */
static bool is_named(const char *name, size_t size, const char *wanted, size_t wanted_size)
{
    return size == wanted_size && strncasecmp(name, wanted, size) == 0;
}
#define IS_NAMED(name, size, wanted) is_named(name, size, wanted, sizeof(wanted) - 1)

/* The size of a value without trailing blanks. (Leading ones have been skipped before.) */
static size_t trimmed_size(const char *value, size_t size)
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
        if (!is_host(value, trimmed_size(value, value_size)))
            guard_break(head, GUARD_HOST);
    } else if (IS_NAMED(name, name_size, "content-length")) {
        head->lengths++;
        if (value_size == 0 || count_leading_characters(DIGITS, value, value_size) < value_size)
            guard_break(head, GUARD_LENGTH);
    } else if (IS_NAMED(name, name_size, "transfer-encoding")) {
        head->codings++;
        if (!IS_NAMED(value, value_size, "chunked"))
            guard_break(head, GUARD_CODING);
    }
}

guard_rule guard_end(guard_head *head)
{
    if (head->hosts != 1 && !(head->is_http_1_0 && head->hosts == 0))
        guard_break(head, GUARD_ONE_HOST);
    if (head->lengths > 1)
        guard_break(head, GUARD_ONE_LENGTH);
    if (head->lengths > 0 && head->codings > 0)
        guard_break(head, GUARD_TWO_FRAMINGS);
    if (head->codings > 1)
        guard_break(head, GUARD_ONE_CODING);
    if (head->is_http_1_0 && head->codings > 0)
        guard_break(head, GUARD_OLD_CODING);
    guard_rule rule = head->broken ? GUARD_LINES : GUARD_FINE;
    while (rule < GUARD_FINE && !(head->broken & 1U << rule))
        rule++;
    return rule;
}

api_reply *guard_refuse(api_service *service, guard_rule rule)
{
    api_fault fault =
        guard_is_unimplemented(rule) ? API_FAULT_NOT_IMPLEMENTED : API_FAULT_MALFORMED;
    return api_fault_reply_explained(service, fault, guard_text(rule));
}
