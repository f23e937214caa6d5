/* The rules of framing for every character. tests/http/test_framing.py sends whole requests. */
#include "http/guard.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

static guard_rule judge(const char *method, const char *target, const char *name,
                        const char *value, size_t value_size)
{
    guard_head head;
    guard_line(&head, method, target, "HTTP/1.1");
    guard_field(&head, "Host", 4, "localhost", 9);
    guard_field(&head, name, strlen(name), value, value_size);
    return guard_end(&head);
}

/* Put one character first, in the middle and last: the guard must judge it by the rules. */
static void check_character(unsigned char c, bool in_name, bool in_value, bool in_target)
{
    for (size_t at = 0; at < 3; at++) {
        char text[] = "aaa", target[] = "/aaa";
        text[at] = target[at + 1] = (char)c;
        ck_assert_msg((judge("GET", "/", "X", text, 3) == GUARD_FINE) == in_value,
                      "%u in a value", c);
        if (c == 0)
            continue; /* it would end the text */
        ck_assert_msg((judge("GET", "/", text, "x", 1) == GUARD_FINE) == in_name,
                      "%u in a name", c);
        ck_assert_msg((judge(text, "/", "X", "x", 1) == GUARD_FINE) == in_name,
                      "%u in a method", c);
        ck_assert_msg((judge("GET", target, "X", "x", 1) == GUARD_FINE) == in_target,
                      "%u in a target", c);
    }
}

START_TEST(every_character_is_judged_alike_at_every_place)
{
    for (unsigned c = 0; c < 256; c++) {
        bool alphanumeric =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool in_name = alphanumeric || (c && strchr("!#$%&'*+-.^_`|~", (int)c));
        check_character((unsigned char)c, in_name, c == '\t' || (c >= 32 && c != 127),
                        c > 32 && c < 127 && c != '#');
    }
}
END_TEST

static bool is_host(const char *text)
{
    guard_head head;
    guard_line(&head, "GET", "/", "HTTP/1.1");
    guard_field(&head, "HOST", 4, text, strlen(text));
    return guard_end(&head) == GUARD_FINE;
}

START_TEST(a_host_is_a_name_or_an_address_and_an_optional_port)
{
    const char *hosts[] = {"",          "a",
                           "a.b-c_d~e", "127.0.0.1:80",
                           "a:",        "[::1]",
                           "[::1]:80",  "[::ffff:1.2.3.4]",
                           "%41%7e:1",  "a!$&'()*+,;=",
                           "A9 \t",     "[1:2::f]:0"};
    const char *others[] = {"a b", "a/b",  "a?",   "a#",   "a@b",    "a:b", "a:1:2",
                            "::1", "[::1", "[]",   "[:]",  "[::1]a", "[x]", "%4",
                            "%4g", "a%",   "\\",   "a\"b", "<a>",    "{a}", "a^",
                            "a|b", "a`",   "\x7f", "\x80", "[::1]]"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        ck_assert_msg(is_host(hosts[i]), "%s", hosts[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!is_host(others[i]), "%s", others[i]);
}
END_TEST

/* The rule that a target breaks, while the Host field is fine. */
static guard_rule judge_target(const char *start, const char *rest)
{
    char target[128];
    snprintf(target, sizeof target, "%s%s", start, rest);
    return judge("GET", target, "X", "", 0);
}

START_TEST(an_absolute_target_has_a_host_that_is_not_empty)
{
    static const char *const legal[] = {
        "a", "a.b-c_d~e", "127.0.0.1:80", "a:", "A9", "[::1]:80", "%41%7e:1", "[1:2::f]"};
    static const char *const others[] = {"",      ":",    ":80",    "me@a", "a:b",
                                         "a:1:2", "[::1", "[::1]a", "::1",  "a\\b",
                                         "%4",    "a\"",  "a|b",    "@"};
    static const char *const rests[] = {"", "/", "?", "/x?y=http://z", "?x/y@z:1"};
    for (size_t k = 0; k < sizeof rests / sizeof *rests; k++) {
        for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
            char text[96];
            size_t size;
            snprintf(text, sizeof text, "%s%s", legal[i], rests[k]);
            ck_assert_msg(judge_target("http://", text) == GUARD_FINE, "%s", text);
            ck_assert_msg(judge_target("hTTP://", text) == GUARD_FINE, "%s", text);
            snprintf(text, sizeof text, "http://%s%s", legal[i], rests[k]);
            ck_assert_ptr_eq(guard_authority(text, &size), text + 7);
            ck_assert_uint_eq(size, strlen(legal[i]));
        }
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            char text[96];
            snprintf(text, sizeof text, "%s%s", others[i], rests[k]);
            ck_assert_msg(judge_target("http://", text) == GUARD_AUTHORITY, "%s", text);
        }
    }
}
END_TEST

START_TEST(other_forms_of_a_target_have_no_authority)
{
    static const char *const targets[] = {"",          "/",        "/http://a", "//a/b",
                                          "https://a", "http:/a",  "http:a",    "http",
                                          "a:80",      "xhttp://a"};
    size_t size;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        ck_assert_ptr_null(guard_authority(targets[i], &size));
    ck_assert_int_eq(judge_target("//", "a@b"), GUARD_FINE);
    ck_assert_int_eq(judge_target("https://", "a@b"), GUARD_FINE); /* refused by the api */
}
END_TEST

START_TEST(the_first_rule_that_is_broken_is_reported_with_a_text)
{
    for (guard_rule rule = GUARD_LINES; rule < GUARD_FINE; rule++) {
        guard_head head;
        guard_line(&head, "GET", "/", "HTTP/1.1");
        guard_field(&head, "Host", 4, "", 0);
        for (guard_rule also = rule; also < GUARD_FINE; also++)
            guard_break(&head, also);
        ck_assert_int_eq(guard_end(&head), rule);
        ck_assert_uint_gt(strlen(guard_text(rule)), 10);
        ck_assert_int_eq(guard_is_unimplemented(rule), rule == GUARD_CODING);
    }
}
END_TEST

Suite *guard_suite(void)
{
    const TTest *const tests[] = {every_character_is_judged_alike_at_every_place,
                                  a_host_is_a_name_or_an_address_and_an_optional_port,
                                  an_absolute_target_has_a_host_that_is_not_empty,
                                  other_forms_of_a_target_have_no_authority,
                                  the_first_rule_that_is_broken_is_reported_with_a_text,
                                  NULL};
    return unit_suite("guard", tests);
}
