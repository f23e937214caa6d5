/* Every key of every row that has a set of values refuses a word that is none of them, and
 * names those that are. */
#include "unit.h"

#include "models/plan.h"
#include "models/types.h"

#include <stdio.h>
#include <string.h>

/* Plan a config with a value of the key of a rule. Whether there is a problem with that key. */
static bool is_refused(const char *type, const model_rule *rule, json_t *value,
                       pe_problem *ret_problem)
{
    const api_model_options options = {.convention = rule->only_4_53 ? API_CONVENTION_4_53
                                                                     : API_CONVENTION_5,
                                       .convention_name = "test"};
    json_t *config = json_pack("{s:s, s:o}", "model_type", type, rule->key, value);
    api_model_plan *plan = NULL;
    pe_error error;
    api_model_plan_new(config, &options, &UNIT_LIMITS, &plan, &error);
    api_model_plan_free(plan);
    json_decref(config);
    for (size_t i = 0; i < error.count; i++)
        if (strcmp(error.problems[i].parameter, rule->key) == 0) {
            *ret_problem = error.problems[i];
            return true;
        }
    return false;
}

static void expect_refusal(const char *type, const model_rule *rule, json_t *value)
{
    pe_problem problem;
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(rule->is, " "), rule->is);
    if (!is_refused(type, rule, value, &problem))
        ck_abort_msg("%s takes a wrong %s", type, rule->key);
    if (!strstr(problem.allowed, first))
        ck_abort_msg("%s, %s: %s is not among %s", type, rule->key, first, problem.allowed);
}

/* Every word that a condition asks for is taken; a flag may be false, too. */
static void expect_words(const char *type, const model_rule *rule)
{
    pe_problem problem;
    char word[64];
    const bool is_flag = strstr(rule->is, "true") || strstr(rule->is, "false");
    for (const char *at = rule->is; *at; at += strspn(at, " ")) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
        at += strcspn(at, " ");
        if (!is_flag && is_refused(type, rule, json_string(word), &problem))
            ck_abort_msg("%s does not take %s=%s", type, rule->key, word);
    }
    if (is_flag && (is_refused(type, rule, json_true(), &problem) ||
                    is_refused(type, rule, json_false(), &problem)))
        ck_abort_msg("%s does not take the flag %s", type, rule->key);
}

START_TEST(every_condition_of_every_row_refuses_words_that_it_does_not_know)
{
    size_t walked = 0;
    for (size_t i = 0; i < model_all_types.count; i++) {
        const model_type *type = &model_all_types.rows[i];
        const model_rule *rule = model_type_rules(&model_all_types, type);
        for (; rule->plan || rule->key; rule++) {
            if (!rule->key || !*rule->is) /* else it asks whether the key is there */
                continue;
            char capital[64];
            snprintf(capital, sizeof capital, "%.*s", (int)strcspn(rule->is, " "), rule->is);
            capital[0] = (char)(capital[0] - 'a' + 'A');
            expect_refusal(type->name, rule, json_string(capital));
            expect_refusal(type->name, rule, json_string("misspelt"));
            expect_refusal(type->name, rule, json_array());
            expect_words(type->name, rule);
            walked++;
        }
    }
    ck_assert_uint_gt(walked, 60);
}
END_TEST

Suite *choices_suite(void)
{
    const TTest *const tests[] = {
        every_condition_of_every_row_refuses_words_that_it_does_not_know, NULL};
    return unit_suite("choices", tests);
}
