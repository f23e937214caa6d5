/* Settings: precedence, units, mistakes. */
#include "settings/settings.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* Read settings from NULL-terminated arguments and environment, which are `legal` or not.
 * Returns the error messages, which the caller frees. */
static char *read_settings(server_settings *ret_settings, char *const *arguments,
                           char *const *environment, bool legal)
{
    char *text = NULL;
    size_t size;
    int count = 0;
    FILE *errors = open_memstream(&text, &size);
    while (arguments[count])
        count++;
    bool was_legal = settings_read(ret_settings, count, arguments, environment, errors);
    fclose(errors);
    ck_assert_msg(was_legal == legal, "%s", text);
    return text;
}

START_TEST(a_flag_beats_the_environment_beats_the_default)
{
    server_settings settings;
    char *arguments[] = {"x", "--port", "99", NULL};
    char *environment[] = {"HOME=/", "POSENC_PORT=98", "POSENC_CACHE_BYTES=3MiB", NULL};
    free(read_settings(&settings, arguments, environment, true));
    ck_assert_uint_eq(settings.port, 99);
    ck_assert_uint_eq(settings.cache_bytes, 3 << 20);
    ck_assert_str_eq(settings.bind, "127.0.0.1");
    ck_assert_uint_eq(settings_table_bytes(&settings), 3 << 18);
}
END_TEST

START_TEST(a_mistake_names_the_flag_and_the_rule)
{
    static const struct {
        char *flag, *hint;
    } wrong[] = {
        {"--port=65536", "from 0 to 65535"},
        {"--port=-1", "from 0"},
        {"--port=", "from 0"},
        {"--port=1KiB", "from 0"},
        {"--cache-bytes=12XB", "KiB"},
        {"--cache-bytes=99999999999GiB", "KiB"},
        {"--access-log=yes", "true or false"},
        {"--log-format=xml", "text or json"},
        {"--prot=1", "--port"},
        {"--cache-byte=1", "--cache-bytes"},
        {"port=1", "--port"},
        {"--max-elements=0", "from 1"},
        {"--bind", "needs a value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        server_settings settings;
        char *arguments[] = {"x", wrong[i].flag, NULL};
        char *text = read_settings(&settings, arguments, NULL, false);
        ck_assert_msg(strstr(text, wrong[i].hint) != NULL, "%s: %s", wrong[i].flag, text);
        free(text);
    }
}
END_TEST

START_TEST(an_unknown_variable_is_a_mistake)
{
    server_settings settings;
    char *arguments[] = {"x", NULL}, *environment[] = {"POSENC_PROT=1", NULL};
    char *text = read_settings(&settings, arguments, environment, false);
    ck_assert_ptr_nonnull(strstr(text, "POSENC_PROT"));
    free(text);
}
END_TEST

START_TEST(variables_of_a_kubernetes_service_are_left_alone)
{
    server_settings settings;
    char *arguments[] = {"x", NULL};
    char *environment[] = {"POSENC_PORT=tcp://10.0.0.1:8080", "POSENC_SERVICE_HOST=10.0.0.1",
                           "POSENC_PORT_8080_TCP_ADDR=10.0.0.1", NULL};
    free(read_settings(&settings, arguments, environment, true));
    ck_assert_uint_eq(settings.port, 8080);
}
END_TEST

START_TEST(switches_and_actions_need_no_value)
{
    server_settings settings;
    char *arguments[] = {"x", "--access-log", "--check-config", NULL};
    free(read_settings(&settings, arguments, NULL, true));
    ck_assert(settings.access_log);
    ck_assert_int_eq(settings.action, SETTINGS_CHECK);
}
END_TEST

Suite *settings_suite(void)
{
    const TTest *const tests[] = {a_flag_beats_the_environment_beats_the_default,
                                  a_mistake_names_the_flag_and_the_rule,
                                  an_unknown_variable_is_a_mistake,
                                  variables_of_a_kubernetes_service_are_left_alone,
                                  switches_and_actions_need_no_value,
                                  NULL};
    return unit_suite("settings", tests);
}
