/* The tensors of a plan, as a batch. */
#include "models/tensors.h"

#include "representations/batch.h"

#include <stdio.h>
#include <string.h>

_Static_assert(API_MODEL_PARTS <= API_BATCH_MAX, "every part is a request of the batch");
_Static_assert(API_MODEL_COMPONENTS <= API_BATCH_LISTS, "every component may have a list");

/* What the reply says of a part besides its request. */
static json_t *about_part(const api_model_plan *plan, size_t index)
{
    const api_model_part *part = &plan->parts[index];
    json_t *from = json_object();
    for (size_t i = 0; i < part->count; i++)
        json_object_set_new(from, part->arguments[i].name, api_origin_describe(part->from[i]));
    return json_pack("{s:I, s:s, s:s, s:s*, s:o, s:O}", "part", (json_int_t)index, "component",
                     plan->components[part->component].name, "kind", part->kind, "pairing",
                     part->pairing, "from", from, "notes", part->notes);
}

/* Add a part to the batch. False: ret_reply is the answer to the whole. */
static bool add_part(api_batch *batch, const api_model_plan *plan, size_t index,
                     api_reply **ret_reply)
{
    const api_model_part *part = &plan->parts[index];
    api_arguments arguments = {.count = part->count};
    pe_error error;
    pe_error_init(&error);
    for (size_t i = 0; i < part->count; i++)
        arguments.items[i] = part->arguments[i];
    if (part->state == API_PART_TRAINED)
        arguments.items[arguments.count++] =
            (pe_argument){.name = "set", .text = plan->options->set, .kind = PE_KIND_STRING};
    if (api_model_part_single(part))
        arguments.items[arguments.count++] = (pe_argument){
            .name = "tensor", .text = api_model_part_single(part), .kind = PE_KIND_STRING};
    bool added = api_batch_add(batch, (int)index, part->name, pe_scheme_find(part->scheme),
                               &arguments, &error, about_part(plan, index), ret_reply);
    if (added && part->tensors)
        api_batch_keep_tensors(batch, part->tensors);
    return added;
}

/* Add which part each layer of a component uses, by the part's index in the plan. False without
 * memory. */
static bool add_layers(api_batch *batch, const api_model_component *component)
{
    char name[API_BATCH_NAME_BYTES];
    if (component->layer_count == 0)
        return true;
    snprintf(name, sizeof name, "%s.layers", component->name);
    return api_batch_add_list(batch, name, component->layers, component->layer_count);
}

/* What the reply says of the whole. */
static json_t *about_model(const api_model_plan *plan)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < plan->part_count; i++)
        json_array_append_new(parts, json_string(plan->parts[i].name));
    return json_pack("{s:s, s:s*, s:s, s:o, s:o, s:O, s:O}", "model_type", plan->model_type,
                     "family", plan->family, "convention", plan->options->convention_name,
                     "parts", parts, "left_out", api_model_list_omissions(plan), "notes",
                     plan->notes, "not_used", plan->not_used);
}

/* Fill a batch that has begun. False without memory, or with the answer in ret_reply. */
static bool fill_batch(api_batch *batch, const api_model_plan *plan, api_reply **ret_reply)
{
    batch->full_names = true;
    batch->about = about_model(plan);
    bool filled = batch->about != NULL;
    for (size_t i = 0; filled && i < plan->part_count; i++)
        if (api_model_part_is_served(plan, &plan->parts[i]))
            filled = add_part(batch, plan, i, ret_reply);
    for (size_t i = 0; filled && i < plan->component_count; i++)
        filled = add_layers(batch, &plan->components[i]);
    return filled;
}

api_reply *api_model_tensors_reply(const api_call *call, const api_model_plan *plan,
                                   api_segment config, bool kept)
{
    const char *asked = plan->options->format;
    api_batch_format format = API_BATCH_SAFETENSORS;
    api_batch batch;
    api_reply *reply = NULL;
    if (asked && strcmp(asked, "json") == 0)
        format = API_BATCH_JSON;
    else if (!asked && !api_batch_accept(call, &format))
        return api_problem(API_NOT_ACCEPTABLE,
                           "the plan of a model is application/json, its tensors are that or "
                           "application/vnd.safetensors",
                           NULL, NULL);
    if (api_batch_begin(&batch, call) && fill_batch(&batch, plan, &reply)) {
        if (kept)
            api_batch_tag(&batch, format, config);
        reply = api_batch_reply(&batch, format);
    }
    api_batch_done(&batch);
    return reply;
}

bool api_model_check_set(const api_call *call, const api_model_plan *plan,
                         api_reply **ret_reply)
{
    api_batch batch;
    bool fits = api_batch_begin(&batch, call) && fill_batch(&batch, plan, ret_reply);
    if (fits && batch.problem.requests > 0)
        *ret_reply = api_joint_problem_reply(&batch.problem);
    fits = fits && batch.problem.requests == 0;
    api_batch_done(&batch);
    return fits;
}
