/* Lines of the log, read back from stderr: their form, and that no text can forge another one.
 */
#include "observe/log.h"

#include "unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TIME_SIZE 24 /* 2026-01-31T23:59:59.999Z */

/* ---- capturing stderr ---- */

typedef struct capture {
    int real, pipe[2]; /* real: stderr itself */
    char text[16384];
} capture;

static void begin_capture(capture *ret_capture)
{
    ck_assert_int_eq(pipe(ret_capture->pipe), 0);
    fcntl(ret_capture->pipe[0], F_SETFL, O_NONBLOCK);
    ret_capture->real = dup(STDERR_FILENO);
    dup2(ret_capture->pipe[1], STDERR_FILENO);
}

/* What has been written to stderr; "" if nothing was. */
static const char *end_capture(capture *captured)
{
    dup2(captured->real, STDERR_FILENO);
    close(captured->real);
    close(captured->pipe[1]);
    ssize_t size = read(captured->pipe[0], captured->text, sizeof captured->text - 1);
    captured->text[size > 0 ? size : 0] = '\0';
    close(captured->pipe[0]);
    return captured->text;
}

/* The one line that an event writes; the time at its beginning is checked and left out. */
static const char *text_line(capture *captured, log_level level, const char *message,
                             const log_field *fields)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    begin_capture(captured);
    log_event(level, message, fields);
    const char *line = end_capture(captured);
    ck_assert_uint_gt(strlen(line), TIME_SIZE);
    for (size_t i = 0; i < TIME_SIZE; i++)
        ck_assert_msg(form[i] == 'd' ? line[i] >= '0' && line[i] <= '9' : line[i] == form[i],
                      "%s", line);
    return line + TIME_SIZE;
}

static json_t *json_line(log_level level, const char *message, const log_field *fields)
{
    capture captured;
    json_error_t problem;
    log_use_json(true);
    begin_capture(&captured);
    log_event(level, message, fields);
    const char *line = end_capture(&captured);
    log_use_json(false);
    ck_assert_msg(strchr(line, '\n') == line + strlen(line) - 1, "%s", line);
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &problem);
    ck_assert_msg(object != NULL, "%s: %s", problem.text, line);
    return object;
}

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    ck_assert_msg(text != NULL, "%s is no text", name);
    return text;
}

/* ---- tests ---- */

START_TEST(an_event_is_a_line_of_text)
{
    capture captured;
    const log_field fields[] = {{.name = "set", .text = "bert"},
                                {.name = "bytes", .number = UINT64_MAX},
                                {.name = NULL}};
    ck_assert_str_eq(text_line(&captured, LOG_LEVEL_INFO, "stopped", NULL), " info stopped\n");
    ck_assert_str_eq(text_line(&captured, LOG_LEVEL_WARNING, "two words", fields),
                     " warning two words set=bert bytes=18446744073709551615\n");
    ck_assert_str_eq(text_line(&captured, LOG_LEVEL_ERROR, "x", fields + 2), " error x\n");
}
END_TEST

START_TEST(an_event_is_an_object_of_json)
{
    static const char *const names[] = {"info", "warning", "error"};
    const log_field fields[] = {{.name = "set", .text = "bert"},
                                {.name = "bytes", .number = 1ULL << 52},
                                {.name = NULL}};
    for (log_level level = LOG_LEVEL_INFO; level <= LOG_LEVEL_ERROR; level++) {
        json_t *object = json_line(level, "say \"it\"", fields);
        ck_assert_uint_eq(json_object_size(object), 5);
        ck_assert_uint_eq(strlen(member(object, "time")), TIME_SIZE);
        ck_assert_str_eq(member(object, "level"), names[level]);
        ck_assert_str_eq(member(object, "message"), "say \"it\"");
        ck_assert_str_eq(member(object, "set"), "bert");
        ck_assert_int_eq(json_integer_value(json_object_get(object, "bytes")), 1LL << 52);
        json_decref(object);
    }
}
END_TEST

/* All bytes but NUL, which ends a text. */
static const char *all_bytes(char dst[256])
{
    for (int c = 1; c < 256; c++)
        dst[c - 1] = (char)c;
    dst[255] = '\0';
    return dst;
}

/* Undo the escapes of a text field. */
static void unescape(const char *text, char *dst)
{
    for (; *text; text++) {
        unsigned code;
        if (*text != '\\') {
            *dst++ = *text;
        } else if (text[1] == '\\') {
            *dst++ = *++text;
        } else {
            unit_assert(sscanf(text, "\\x%2x", &code) == 1);
            *dst++ = (char)code;
            text += 3;
        }
    }
    *dst = '\0';
}

START_TEST(a_text_field_keeps_every_byte_and_shows_visible_ascii_alone)
{
    capture captured;
    char bytes[256], back[256];
    const log_field fields[] = {{.name = "a", .text = all_bytes(bytes)}, {.name = NULL}};
    const char *line = text_line(&captured, LOG_LEVEL_INFO, "m", fields);
    const char *field = strstr(line, " a=") + 3;
    size_t size = strlen(field) - 1;
    ck_assert(field[size] == '\n');
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(field[i] > ' ' && field[i] <= '~', "byte %d", field[i]);
    captured.text[strlen(captured.text) - 1] = '\0';
    unescape(field, back);
    ck_assert_str_eq(back, bytes);
}
END_TEST

START_TEST(a_json_field_keeps_every_byte_as_a_code_point)
{
    char bytes[256];
    const log_field fields[] = {{.name = "a", .text = all_bytes(bytes)}, {.name = NULL}};
    json_t *object = json_line(LOG_LEVEL_INFO, "m", fields);
    const unsigned char *utf8 = (const unsigned char *)member(object, "a");
    for (unsigned c = 1; c < 256; c++) {
        unsigned code = *utf8++;
        if (code >= 0xc0)
            code = (code & 0x1f) << 6 | (*utf8++ & 0x3f);
        ck_assert_uint_eq(code, c);
    }
    ck_assert_uint_eq(*utf8, 0);
    json_decref(object);
}
END_TEST

START_TEST(no_text_adds_a_line_or_a_field)
{
    static const char *const texts[] = {"x status=200", "x\n2026 info forged",
                                        "\",\"b\":\"c", "\\\",\"b\":\"c",
                                        "\\",           "\x1b[2J"};
    for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
        capture captured;
        const log_field fields[] = {{.name = "a", .text = texts[i]}, {.name = NULL}};
        const char *line = text_line(&captured, LOG_LEVEL_INFO, "m", fields);
        ck_assert_int_eq(strncmp(line, " info m a=", 10), 0);
        ck_assert_ptr_null(strchr(line + 10, ' '));
        ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
        json_t *object = json_line(LOG_LEVEL_INFO, "m", fields);
        ck_assert_uint_eq(json_object_size(object), 4);
        ck_assert_str_eq(member(object, "a"), texts[i]);
        json_decref(object);
    }
}
END_TEST

START_TEST(a_line_in_steps_has_its_fields_in_order)
{
    capture captured;
    begin_capture(&captured);
    log_line *line = log_begin(LOG_LEVEL_INFO, "request");
    log_number(line, "bytes", 0);
    log_text(line, "cache", NULL); /* no field */
    log_text(line, "peer", "");
    log_seconds(line, "duration", 61000000005);
    log_end(line);
    ck_assert_str_eq(end_capture(&captured) + TIME_SIZE,
                     " info request bytes=0 peer= duration=61.000000005\n");
}
END_TEST

START_TEST(without_memory_a_line_is_whole_or_lost)
{
    char text[4000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const log_field fields[] = {{.name = "a", .text = text}, {.name = NULL}};
    size_t lost = 0;
    for (size_t k = 0;; k++) {
        capture captured;
        begin_capture(&captured);
        unit_fail_allocations(k, 1);
        log_event(LOG_LEVEL_INFO, "m", fields);
        bool failed = unit_allow_allocations().failed > 0;
        const char *line = end_capture(&captured);
        size_t size = strlen(line);
        ck_assert_msg(size == (failed ? 0 : TIME_SIZE + sizeof " info m a=\n" - 1 + 3999),
                      "allocation %zu: %s", k, line);
        if (!failed)
            break;
        lost++;
    }
    ck_assert_uint_ge(lost, 2); /* the line itself, and its text, which grows */
}
END_TEST

Suite *log_suite(void)
{
    const TTest *const tests[] = {
        an_event_is_a_line_of_text,
        an_event_is_an_object_of_json,
        a_text_field_keeps_every_byte_and_shows_visible_ascii_alone,
        a_json_field_keeps_every_byte_as_a_code_point,
        no_text_adds_a_line_or_a_field,
        a_line_in_steps_has_its_fields_in_order,
        without_memory_a_line_is_whole_or_lost,
        NULL,
    };
    return unit_suite("log", tests);
}
