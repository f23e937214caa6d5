/* The framing of a head, and hosts of loopback. The input is a request line and lines of
 * fields. The guard's judgement is that of regular expressions for each part. */
#include "support/fuzz.h"

#include "../../server/guard.h"
#include "access.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static const char TOKEN[] = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
static const char TARGET[] = "[!-\"$-~]+";
static const char VALUE[] = "[\t -~\x80-\xff]*";
static const char HOST[] =
    "(\\[[0-9A-Fa-f:.]{2,}\\]|([0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
    "(:[0-9]*)?[ \t]*";

typedef struct expectation {
    bool fine, old;
    unsigned hosts, lengths, codings;
} expectation;

static bool is_named(const char *name, size_t size, const char *wanted)
{
    return size == strlen(wanted) && strncasecmp(name, wanted, size) == 0;
}

/* Loopback names are "localhost" and 127.0.0.0/8, as inet_pton reads addresses. */
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

static void expect_field(expectation *of, const char *name, size_t name_size, const char *value,
                         size_t size)
{
    if (!fuzz_fits(TOKEN, name, name_size) || !fuzz_fits(VALUE, value, size))
        of->fine = false;
    if (is_named(name, name_size, "host")) {
        of->hosts++;
        of->fine &= fuzz_fits(HOST, value, size);
    } else if (is_named(name, name_size, "content-length")) {
        of->lengths++;
    } else if (is_named(name, name_size, "transfer-encoding")) {
        of->codings++;
        of->fine &= is_named(value, size, "chunked");
    }
}

/* One line of the head: to the guard from blocks of its own, to the expectation as it is. */
static void read_field(guard_head *head, expectation *of, const char *line, size_t size)
{
    const char *colon = memchr(line, ':', size);
    size_t name_size = colon ? (size_t)(colon - line) : size;
    const char *value = colon ? colon + 1 : line + size;
    while (value < line + size && (*value == ' ' || *value == '\t'))
        value++;
    size_t value_size = (size_t)(line + size - value);
    char *name = fuzz_exact(line, name_size), *exact = fuzz_exact(value, value_size);
    guard_field(head, name, name_size, exact, value_size);
    expect_field(of, line, name_size, value, value_size); /* NUL-terminated, for regexec */
    char *host = fuzz_copy(value, value_size);
    check_loopback(host);
    free(host);
    free(exact);
    free(name);
}

static void read_line(guard_head *head, expectation *of, char *line)
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
    of->old = version && strcmp(version, "HTTP/1.0") == 0;
    of->fine = fuzz_fits(TOKEN, method, strlen(method)) &&
               fuzz_fits(TARGET, exact, strlen(exact)) && !strstr(exact, "%00");
    free(exact);
    free(method);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    guard_head head;
    expectation of = {0};
    if (size > 2000)
        return 0;
    char *text = fuzz_copy(data, size), *rest = text;
    read_line(&head, &of, fuzz_line(&rest));
    for (char *end = text + size; rest < end;) {
        char *next = memchr(rest, '\n', (size_t)(end - rest));
        read_field(&head, &of, rest, (size_t)((next ? next : end) - rest));
        rest = next ? next + 1 : end;
    }
    guard_rule rule = guard_end(&head);
    bool fine = of.fine && of.lengths <= 1 && of.codings <= 1 && !(of.lengths && of.codings) &&
                !(of.old && of.codings) && of.hosts <= 1 && (of.hosts == 1 || of.old);
    fuzz_check((rule == GUARD_FINE) == fine, "the guard says %s",
               rule == GUARD_FINE ? "fine" : guard_text(rule));
    fuzz_check(rule == GUARD_FINE || strlen(guard_text(rule)) > 10, "a rule without a text");
    free(text);
    return 0;
}
