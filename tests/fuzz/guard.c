/* The framing of a head, and hosts of loopback. The input is a request line and one line for
 * each header field. The guard must judge them as regular expressions for each part do. */
#include "support/fuzz.h"

#include "http/guard.h"
#include "replies/access.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static const char TOKEN[] = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
static const char TARGET[] = "[!-\"$-~]+";
static const char HTTP[] = "[hH][tT][tT][pP]://.*";
static const char ABSOLUTE[] =
    ".{7}(\\[[0-9A-Fa-f:.]{2,}\\]|([0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)"
    "(:[0-9]*)?([/?].*)?";
static const char VALUE[] = "[\t -~\x80-\xff]*";
static const char HOST[] =
    "(\\[[0-9A-Fa-f:.]{2,}\\]|([0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
    "(:[0-9]*)?[ \t]*";

/* What the regular expressions found in a head. */
typedef struct expectation {
    bool fine; /* every part matches */
    bool old;  /* the version is HTTP/1.0 */
    unsigned hosts, lengths, codings;
} expectation;

static bool is_named(const char *name, size_t size, const char *wanted)
{
    return size == strlen(wanted) && strncasecmp(name, wanted, size) == 0;
}

/* Check that a host that passes for loopback is "localhost", [::1] or an address in
 * 127.0.0.0/8, as inet_pton reads it. */
static void check_loopback(const char *host)
{
    char address[64];
    struct in_addr parsed;
    size_t length = strcspn(host, ":");
    if (!api_is_loopback_host(host))
        return;
    snprintf(address, sizeof address, "%.*s", (int)length, host);
    bool loops =
        strncmp(host, "[::1]", 5) == 0 || strcasecmp(address, "localhost") == 0 ||
        (inet_pton(AF_INET, address, &parsed) == 1 && ntohl(parsed.s_addr) >> 24 == 127);
    fuzz_check(loops, "%s passes for loopback", host);
    fuzz_check(fuzz_fits(HOST, host, strlen(host)), "%s passes for loopback", host);
}

static void expect_field(expectation *expected, const char *name, size_t name_size,
                         const char *value, size_t size)
{
    if (!fuzz_fits(TOKEN, name, name_size) || !fuzz_fits(VALUE, value, size))
        expected->fine = false;
    if (is_named(name, name_size, "host")) {
        expected->hosts++;
        expected->fine &= fuzz_fits(HOST, value, size);
    } else if (is_named(name, name_size, "content-length")) {
        expected->lengths++;
        expected->fine &= fuzz_fits("[0-9]+", value, size);
    } else if (is_named(name, name_size, "transfer-encoding")) {
        expected->codings++;
        expected->fine &= is_named(value, size, "chunked");
    }
}

/* Give one field to the guard, in memory of exact size, and to the expectation. */
static void read_field(guard_head *head, expectation *expected, const char *line, size_t size)
{
    const char *colon = memchr(line, ':', size);
    size_t name_size = colon ? (size_t)(colon - line) : size;
    const char *value = colon ? colon + 1 : line + size;
    while (value < line + size && (*value == ' ' || *value == '\t'))
        value++;
    size_t value_size = (size_t)(line + size - value);
    char *name = fuzz_exact(line, name_size), *exact = fuzz_exact(value, value_size);
    guard_field(head, name, name_size, exact, value_size);
    expect_field(expected, line, name_size, value,
                 value_size); /* NUL-terminated, for regexec */
    char *host = fuzz_copy(value, value_size);
    check_loopback(host);
    free(host);
    free(exact);
    free(name);
}

static void read_line(guard_head *head, expectation *expected, char *line)
{
    char *target = strchr(line, ' ');
    if (target)
        *target++ = '\0';
    char *version = target ? strchr(target, ' ') : NULL;
    if (version)
        *version++ = '\0';
    char *method = fuzz_copy(line, strlen(line));
    char *exact = fuzz_copy(target ? target : "", target ? strlen(target) : 0);
    guard_line(head, method, exact, version ? version : "");
    expected->old = version && strcmp(version, "HTTP/1.0") == 0;
    expected->fine =
        fuzz_fits(TOKEN, method, strlen(method)) && fuzz_fits(TARGET, exact, strlen(exact)) &&
        !strstr(exact, "%00") &&
        (!fuzz_fits(HTTP, exact, strlen(exact)) || fuzz_fits(ABSOLUTE, exact, strlen(exact)));
    free(exact);
    free(method);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    guard_head head;
    expectation expected = {0};
    if (size > 2000)
        return 0;
    char *text = fuzz_copy(data, size), *rest = text;
    read_line(&head, &expected, fuzz_line(&rest));
    for (char *end = text + size; rest < end;) {
        char *next = memchr(rest, '\n', (size_t)(end - rest));
        read_field(&head, &expected, rest, (size_t)((next ? next : end) - rest));
        rest = next ? next + 1 : end;
    }
    guard_rule rule = guard_end(&head);
    bool fine = expected.fine && expected.lengths <= 1 && expected.codings <= 1 &&
                !(expected.lengths && expected.codings) &&
                !(expected.old && expected.codings) && expected.hosts <= 1 &&
                (expected.hosts == 1 || expected.old);
    fuzz_check((rule == GUARD_FINE) == fine, "the guard says %s",
               rule == GUARD_FINE ? "fine" : guard_text(rule));
    fuzz_check(rule == GUARD_FINE || strlen(guard_text(rule)) > 10, "a rule without a text");
    free(text);
    return 0;
}
