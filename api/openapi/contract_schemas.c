/* The schemas of the JSON documents: a table with one row for each member of an object. */
#include "openapi/contract.h"

#include <stdio.h>
#include <string.h>

json_t *api_contract_reference(const char *kind, const char *component)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, component));
}

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* {schema, member, type, help}. A type is the name of a JSON type or of a schema in this table;
 * "any" is any value, "[type]" an array, "[type]|null" that or null, "{type}" an object of
 * values of a type, "a|b" a value of type a or b. A member with a question mark may be absent.
 */
static const struct {
    const char *schema, *member, *type, *help;
} MEMBERS[] = {
    {"Tensors", "scheme", "string", "name of the scheme"},
    {"Tensors", "preset", "string|null", "the preset that was applied, null if none"},
    {"Tensors", "release", "string", "version of posenc"},
    {"Tensors", "parameters", "{any}", "all parameters, after defaulting"},
    {"Tensors", "tensors", "[Tensor]", "the tensors, or the one asked for"},

    {"Tensor", "name", "string", "name, as /v1/schemes has it"},
    {"Tensor", "dtype", "string", "f64, f32, f16, bf16 or i32"},
    {"Tensor", "shape", "[integer]", "extents"},
    {"Tensor", "data", "Data", "nested lists of that shape"},

    {"BatchRequest", "requests", "[BatchItem]", "1 to 64 requests"},
    {"BatchRequest", "format?", "string|null", "safetensors or json; beats Accept"},

    {"BatchItem", "name", "string", "what its tensors are called in the reply"},
    {"BatchItem", "scheme", "string", "name of the scheme, whose parameters stand beside it"},

    {"Batch", "release", "string", "version of posenc"},
    {"Batch", "results", "[BatchResult]", "one for each request, in their order"},
    {"Batch", "model?", "any", "what is said of a model as a whole"},
    {"Batch", "lists?", "{any}", "lists of integers: which layer uses which part"},

    {"BatchResult", "name", "string", "the request's name"},
    {"BatchResult", "request?", "string", "the target that gives these tensors alone"},
    {"BatchResult", "encoding", "Tensors", "the tensors"},
    {"BatchResult", "part?", "integer", "of a model: the index of its part"},
    {"BatchResult", "component?", "string", "of a model: the component's name"},
    {"BatchResult", "kind?", "string", "of a model: what it is"},
    {"BatchResult", "pairing?", "string", "of rotary columns: half or interleaved"},
    {"BatchResult", "from?", "{string}", "of a model: where each parameter came from"},
    {"BatchResult", "notes?", "[string]", "of a model: sentences about the part"},

    {"Comparison", "request", "ComparedRequest", "the exact table"},
    {"Comparison", "shape", "[integer]", "extents of both"},
    {"Comparison", "dtype", "string", "dtype of the exact entries"},
    {"Comparison", "file", "TableFile", "what the body is"},
    {"Comparison", "within_tolerance?", "boolean",
     "whether no entry is outside; with tolerance or ulps"},
    {"Comparison", "outside_tolerance?", "integer", "entries further off than both"},
    {"Comparison", "equal", "boolean", "whether every entry has the exact value"},
    {"Comparison", "entries", "integer", "number of entries"},
    {"Comparison", "differing", "integer", "entries with another value"},
    {"Comparison", "signs", "integer", "zeros of the other sign, which count as equal"},
    {"Comparison", "max_abs?", "Deviation", "the largest absolute error; absent without one"},
    {"Comparison", "max_ulps?", "Deviation",
     "the largest error in ulps of the exact entry; absent without one"},
    {"Comparison", "ulps_of_one", "number",
     "the largest absolute error in ulps of numbers below 1"},
    {"Comparison", "not_finite", "integer", "entries that are NaN or infinite and differ"},
    {"Comparison", "first_not_finite?", "[integer]", "where the first of them is"},
    {"Comparison", "histogram", "[ErrorBin]", "errors in ulps, rising"},
    {"Comparison", "columns", "[ComparedPart]",
     "columns with differing entries, worst first; at most 64"},
    {"Comparison", "blocks", "[ComparedPart]",
     "the rows in at most 64 blocks; those with differing entries"},
    {"Comparison", "rows", "[ComparedRow]", "the first rows with differing entries; at most 8"},
    {"Comparison", "by?", "ComparedAxes", "of /v1/apply: the same for each axis of the result"},

    {"Identity", "status", "string", "exact, match, near or unknown"},
    {"Identity", "summary", "string", "the answer in a sentence"},
    {"Identity", "shape", "[integer]", "extents of the table"},
    {"Identity", "request?", "ComparedRequest", "the exact table"},
    {"Identity", "transposed?", "boolean", "whether the table has its axes exchanged"},
    {"Identity", "columns?", "[integer]",
     "of a table with its columns in another order: which of them, after exchanged axes, each "
     "column of the exact table is"},
    {"Identity", "arithmetic?", "string", "exact, float64, float32, like_float32 or unknown"},
    {"Identity", "computation?", "string", "in which formats float32 arithmetic was done"},
    {"Identity", "frequencies?", "IdentityFormulas", "how float32 frequencies were computed"},
    {"Identity", "function?", "IdentityFunction",
     "float32 sines and cosines of angles beyond 4 radians"},
    {"Identity", "misfits?", "integer",
     "entries further off than float32 arithmetic brings them"},
    {"Identity", "exceptions?", "IdentityExceptions", "where these are"},
    {"Identity", "against_exact?", "Figures", "comparison with the exact table"},
    {"Identity", "same_table?", "[ComparedRequest]",
     "other requests that make the same bits, at most limit"},
    {"Identity", "undecided?", "[OpenParameter]",
     "parameters that the table leaves open, each alone"},
    {"Identity", "learned", "Learned", "what was measured"},
    {"Identity", "proposed", "integer", "requests that were looked at"},
    {"Identity", "compared", "integer", "requests that were compared in full"},
    {"Identity", "gave_up", "boolean", "whether the search was ended by the time it took"},
    {"Identity", "file", "TableFile", "what the body is"},

    {"IdentityFormulas", "formulas", "[string]",
     "formulas that give all frequencies, step by step in float32; empty if none is known"},
    {"IdentityFormulas", "off_by_a_float", "integer",
     "frequencies that the formula gives but for a float"},
    {"IdentityFormulas", "count", "integer", "different frequencies"},
    {"IdentityFormulas", "decided", "integer",
     "those for which no neighbouring float would do"},
    {"IdentityFunction", "judged", "integer", "how many"},
    {"IdentityFunction", "not_nearest", "integer", "of these, which are not the nearest float"},
    {"IdentityFunction", "like?", "string", "a library of which about as many are not"},
    {"IdentityExceptions", "rows", "[integer]", "rows that do not fit, the first 32"},
    {"IdentityExceptions", "row_count", "integer", "how many there are"},
    {"IdentityExceptions", "columns", "[integer]", "columns that do not fit, the first 32"},
    {"IdentityExceptions", "column_count", "integer", "how many there are"},
    {"IdentityExceptions", "entries", "[[integer]]", "indices of others, not all of them"},

    {"Figures", "equal", "boolean", "whether every entry has the exact value"},
    {"Figures", "entries", "integer", "number of entries"},
    {"Figures", "differing", "integer", "entries with another value"},
    {"Figures", "signs", "integer", "zeros of the other sign, which count as equal"},
    {"Figures", "max_abs?", "Deviation", "the largest absolute error; absent without one"},
    {"Figures", "max_ulps?", "Deviation",
     "the largest error in ulps of the exact entry; absent without one"},
    {"Figures", "ulps_of_one", "number",
     "the largest absolute error in ulps of numbers below 1"},
    {"Figures", "not_finite", "integer", "entries that are NaN or infinite and differ"},
    {"Figures", "first_not_finite?", "[integer]", "where the first of them is"},
    {"Figures", "histogram", "[ErrorBin]", "errors in ulps, rising"},
    {"Figures", "columns", "[ComparedPart]",
     "columns with differing entries, worst first; at most 64"},
    {"Figures", "blocks", "[ComparedPart]",
     "the rows in at most 64 blocks; those with differing entries"},
    {"Figures", "rows", "[ComparedRow]", "the first rows with differing entries; at most 8"},

    {"Learned", "waves", "integer", "columns that are sines or cosines of the row"},
    {"Learned", "frequency", "number|null", "of the first of them, in radians per row"},

    {"ComparedRequest", "scheme", "string", "name of the scheme"},
    {"ComparedRequest", "tensor", "string", "name of the tensor"},
    {"ComparedRequest", "url", "string", "the target that gives it"},
    {"ComparedRequest", "presets?", "[string]", "presets with whose values it is the same"},

    {"OpenParameter", "parameter", "string", "its name"},
    {"OpenParameter", "values", "[string]", "some others that make the same bits"},

    {"TableFile", "format", "string", "npy, safetensors or raw"},
    {"TableFile", "dtype", "string", "type of its elements"},
    {"TableFile", "tensor?", "string", "of safetensors: its name"},
    {"TableFile", "parameters?", "string", "the stored set that has it"},

    {"Deviation", "error", "number", "the error"},
    {"Deviation", "at", "[integer]", "index of the entry"},
    {"Deviation", "found", "number|null", "the body's entry"},
    {"Deviation", "exact", "number|null", "the exact entry"},

    {"ErrorBin", "ulps", "number|null",
     "errors up to this, above the bin before; null: larger or not finite"},
    {"ErrorBin", "entries", "integer", "how many"},

    {"ComparedPart", "column?", "integer", "index of the column"},
    {"ComparedPart", "row?", "integer", "first row"},
    {"ComparedPart", "count", "integer", "number of columns or rows"},
    {"ComparedPart", "differing", "integer", "differing entries"},
    {"ComparedPart", "max_abs", "number|null",
     "their largest absolute error; null: not finite"},

    {"ComparedAxisPart", "first", "integer", "first index"},
    {"ComparedAxisPart", "count", "integer", "number of indices"},
    {"ComparedAxisPart", "differing", "integer", "differing entries"},
    {"ComparedAxisPart", "max_abs", "number|null", "largest absolute error; null: not finite"},
    {"ComparedAxisPart", "max_ulps", "number|null", "the same in ulps"},

    {"ComparedRow", "row", "integer",
     "number of the row, all axes but the last taken together"},
    {"ComparedRow", "differing", "integer", "differing entries"},
    {"ComparedRow", "entries", "[ComparedEntry]", "the first of them; at most 8"},

    {"ComparedEntry", "at", "[integer]", "index of the entry"},
    {"ComparedEntry", "found", "number|null", "the body's entry"},
    {"ComparedEntry", "exact", "number|null", "the exact entry"},

    {"Models", "models", "[KnownModel]", "models that a path may name"},
    {"Models", "model_types", "[ModelType]", "the model types that a config may have"},
    {"Models", "parameters", "[Parameter]", "what a request for a plan may give"},

    {"KnownModel", "name", "string", "name, as paths have it"},
    {"KnownModel", "source", "string", "the repository of the Hugging Face hub"},
    {"KnownModel", "config", "{any}", "the keys of its config.json that positions depend on"},

    {"ModelType", "model_type", "string", "model_type of a config, or _class_name"},
    {"ModelType", "title", "string", "what it is, in a few words"},

    {"Plan", "model_type", "string", "the row of the table that was read"},
    {"Plan", "summary", "string", "the plan in a sentence"},
    {"Plan", "convention", "string", "the release whose reading is followed"},
    {"Plan", "components", "[PlanComponent]", "what has layers of its own"},
    {"Plan", "parts", "[PlanPart]", "what the layers use; none: no positions"},
    {"Plan", "notes", "[string]", "sentences about the whole"},
    {"Plan", "not_used", "[string]", "paths of keys that look like positions, without effect"},

    {"PlanComponent", "name", "string", "name"},
    {"PlanComponent", "model_type", "string", "the row of the table that was read"},
    {"PlanComponent", "config", "string", "path of its object; empty: the whole config"},
    {"PlanComponent", "layer_count", "integer", "number of layers; 0: the config has none"},
    {"PlanComponent", "layer_count_from", "string", "where that came from"},
    {"PlanComponent", "layers", "[integer]", "index of the part of each layer; -1: none"},

    {"PlanPart", "name", "string", "name, which the names of its tensors begin with"},
    {"PlanPart", "summary", "string", "the part in a sentence"},
    {"PlanPart", "component", "string", "the component's name"},
    {"PlanPart", "kind", "string", "what it is"},
    {"PlanPart", "state", "string", "computed, trained, or why there is nothing"},
    {"PlanPart", "pairing", "string|null", "of rotary columns: half or interleaved"},
    {"PlanPart", "layers", "[integer]", "the layers that use it"},
    {"PlanPart", "facts", "{PlanFact}", "what was read, and from where"},
    {"PlanPart", "scheme?", "string", "the scheme that computes it"},
    {"PlanPart", "arguments?", "{PlanFact}", "its parameters, and where each came from"},
    {"PlanPart", "tensors?", "[PlanTensor]", "what the scheme makes of it"},
    {"PlanPart", "request?", "string", "the target that gives it alone"},
    {"PlanPart", "notes", "[string]", "sentences about it"},

    {"PlanFact", "value", "any", "the value"},
    {"PlanFact", "from", "string", "a path of the config, a default, or the query"},

    {"PlanTensor", "name", "string", "name"},
    {"PlanTensor", "dtype", "string", "f64, f32, f16, bf16 or i32"},
    {"PlanTensor", "shape", "[integer]", "extents"},
    {"PlanTensor", "bytes", "integer", "bytes of its elements"},

    {"Schemes", "schemes", "[Scheme]", "all schemes"},

    {"Scheme", "name", "string", "name, as paths have it"},
    {"Scheme", "title", "string", "name in words"},
    {"Scheme", "summary", "string", "what it is"},
    {"Scheme", "family", "string", "where it acts: absolute, rotary, relative or grid"},
    {"Scheme", "formula", "string", "how it is computed"},
    {"Scheme", "convention", "string", "which of several habits it follows"},
    {"Scheme", "reference", "string", "where it was published"},
    {"Scheme", "revision", "integer", "grows whenever a bit of a result changes"},
    {"Scheme", "example", "string", "a small query"},
    {"Scheme", "parameters", "[Parameter]", "what a request may give"},
    {"Scheme", "presets", "[Preset]", "named rows of values"},
    {"Scheme", "tensors", "[TensorKind]", "what it makes, the primary one first"},
    {"Scheme", "similarity", "boolean", "whether /v1/similarity has it"},
    {"Scheme", "recognised", "boolean",
     "whether /v1/identify finds its tables; false: not yet"},
    {"Scheme", "applies", "[Application]|null",
     "what /v1/apply does to tensors of a model; null: nothing"},

    {"Application", "input", "string", "the tensor's name"},
    {"Application", "shape", "string", "its axes"},
    {"Application", "result", "string", "what the result is called"},
    {"Application", "result_shape", "string", "its axes"},
    {"Application", "kind", "string", "add, multiply, rotate, contract, combine or gather"},
    {"Application", "tensors", "[string]", "what of the scheme is applied"},
    {"Application", "formula", "string", "the result"},

    {"Parameter", "name", "string", "name"},
    {"Parameter", "type", "string", "JSON type"},
    {"Parameter", "required", "boolean", "whether it must be given"},
    {"Parameter", "default", "any", "what it is otherwise, null if there is no such value"},
    {"Parameter", "default_of?", "string", "how the default follows from others"},
    {"Parameter", "minimum?", "number", "least value, of each item of a list"},
    {"Parameter", "maximum?", "number", "largest value, of each item of a list"},
    {"Parameter", "exclusive_minimum?", "number",
     "what each value is above, instead of minimum"},
    {"Parameter", "exclusive_maximum?", "number",
     "what each value is below, instead of maximum"},
    {"Parameter", "multiple_of?", "integer", "what it is a multiple of"},
    {"Parameter", "choices?", "[string]", "the values of a choice"},
    {"Parameter", "format?", "string", "what the text must be"},
    {"Parameter", "stored?", "string", "where a stored set has it"},
    {"Parameter", "unless?", "string", "the parameter that stands for it"},
    {"Parameter", "when?", "Cases", "what depends on another one's choice"},
    {"Parameter", "unit?", "string", "unit"},
    {"Parameter", "help", "string", "what it is"},

    {"Cases", "parameter", "string", "the one that chooses"},
    {"Cases", "cases", "[Case]", "the choices that this one is legal with"},

    {"Case", "choice", "string", "the choice"},
    {"Case", "required", "boolean", "whether it must be given then"},
    {"Case", "default", "any", "what it is otherwise, null if there is no such value"},

    {"Preset", "name", "string", "name"},
    {"Preset", "help", "string", "what it is"},
    {"Preset", "values", "{any}", "the values, under explicit ones"},

    {"TensorKind", "name", "string", "name"},
    {"TensorKind", "shape", "string", "extents, in terms of the parameters"},
    {"TensorKind", "help", "string", "what it is"},
    {"TensorKind", "primary", "boolean", "whether npy and raw carry it unless told"},

    {"Info", "name", "string", "posenc"},
    {"Info", "version", "string", "version of the server"},
    {"Info", "schemes", "integer", "number of schemes"},
    {"Info", "dtypes", "[string]", "element types"},
    {"Info", "formats", "[Format]", "representations"},
    {"Info", "store", "Store", "the store of trained tensors"},
    {"Info", "access", "Access", "who may do what"},
    {"Info", "limits", "{Limit}", "limits and settings by name"},

    {"Format", "name", "string", "what format= names"},
    {"Format", "media_type", "string", "what Accept names"},
    {"Format", "extension", "string", "of files"},
    {"Format", "help", "string", "what it is"},
    {"Format", "options", "[Parameter]", "what a request may give for it"},

    {"Store", "kind", "string", "where sets are kept"},
    {"Store", "sets", "integer", "number of sets"},
    {"Store", "bytes", "integer", "bytes of all"},

    {"Access", "store", "string",
     "files of stored sets: key, loopback (local clients alone) or closed"},
    {"Access", "tables", "string",
     "what computes on a table that is sent: open, key, loopback or closed"},
    {"Access", "stored", "string",
     "pages that may read what is computed from stored sets: own or all"},

    {"Limit", "value", "integer", "its value"},
    {"Limit", "unit", "string", "unit"},
    {"Limit", "help", "string", "what it limits"},

    {"StoredSets", "parameters", "[StoredSet]", "all sets, by name"},

    {"StoredSet", "name", "string", "name"},
    {"StoredSet", "digest", "string", "SHA-256 of the file, also its ETag"},
    {"StoredSet", "bytes", "integer", "length of the file"},
    {"StoredSet", "tensors", "[StoredTensor]", "what is inside"},

    {"StoredTensor", "name", "string", "name"},
    {"StoredTensor", "dtype", "string", "element type"},
    {"StoredTensor", "shape", "[integer]", "extents"},

    {"State", "status", "string", "live, ready, warming or draining"},

    {"Problem", "type", "string", "a URN of the code"},
    {"Problem", "title", "string", "the code in words"},
    {"Problem", "status", "integer", "the HTTP status"},
    {"Problem", "code", "string", "stable name of what is wrong"},
    {"Problem", "detail?", "string", "what is wrong here"},
    {"Problem", "did_you_mean?", "string", "the nearest name that exists"},
    {"Problem", "errors?", "[ParameterError]", "every wrong parameter"},
    {"Problem", "errors_dropped?", "integer", "how many more there are"},

    {"ParameterError", "request?", "integer", "the index of the request of a batch"},
    {"ParameterError", "name?", "string", "the name of that request"},
    {"ParameterError", "parameter", "string", "its name"},
    {"ParameterError", "given", "string|null", "what was given, null if nothing"},
    {"ParameterError", "allowed", "string", "what it must be"},
    {"ParameterError", "message", "string", "what is wrong, as a sentence"},
    {"ParameterError", "did_you_mean?", "string", "the nearest name that exists"},
};

/* {schema, example document} */
static const struct {
    const char *schema, *text;
} EXAMPLES[] = {
    {"Tensors",
     "{\"scheme\": \"sinusoidal\", \"preset\": null, \"release\": \"" PE_VERSION "\", "
     "\"parameters\": {\"length\": 2, \"dim\": 2}, "
     "\"tensors\": [{\"name\": \"encoding\", \"dtype\": \"f32\", \"shape\": [2, 2], "
     "\"data\": [[0, 1], [0.84147096, 0.5403023]]}]}"},
    {"BatchRequest",
     "{\"requests\": [{\"name\": \"rotary\", \"scheme\": \"rope\", \"length\": 4, "
     "\"dim\": 8}, {\"name\": \"bias\", \"scheme\": \"alibi\", \"length\": 4, "
     "\"heads\": 2}], \"format\": \"safetensors\"}"},
    {"State", "{\"status\": \"ready\"}"},
    {"StoredSet",
     "{\"name\": \"bert-positions\", \"digest\": \"3f1c\", \"bytes\": 1648, "
     "\"tensors\": [{\"name\": \"table\", \"dtype\": \"F32\", \"shape\": [32, 12]}]}"},
    {"Problem", "{\"type\": \"urn:posenc:problem:malformed\", \"title\": \"The request is "
                "malformed\", \"status\": 400, \"code\": \"malformed\", \"detail\": \"dim must "
                "be an even integer from 2 to 1024 (given: \\\"x\\\")\", \"errors\": "
                "[{\"parameter\": \"dim\", \"given\": \"x\", \"allowed\": \"an even integer "
                "from 2 to 1024\", \"message\": \"dim must be an even integer from 2 to 1024 "
                "(given: \\\"x\\\")\"}]}"},
};

/* The schema of a type that is named by type[0, length). */
static json_t *schema_of_name(const char *type, size_t length)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)length, type);
    if (strcmp(name, "any") == 0)
        return json_object();
    return name[0] >= 'A' && name[0] <= 'Z' ? api_contract_reference("schemas", name)
                                            : json_pack("{s:s}", "type", name);
}

/* The schema of a type as the table writes it. */
static json_t *schema_of_type(const char *type)
{
    size_t length = strlen(type), first = strcspn(type, "|");
    if (type[0] == '[') {
        char inner[32];
        snprintf(inner, sizeof inner, "%.*s", (int)(strrchr(type, ']') - type - 1), type + 1);
        json_t *items = schema_of_type(inner);
        if (first < length)
            return json_pack("{s:[s, s], s:o}", "type", "array", "null", "items", items);
        return json_pack("{s:s, s:o}", "type", "array", "items", items);
    }
    if (type[0] == '{')
        return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                         schema_of_name(type + 1, length - 2));
    if (first < length)
        return json_pack("{s:[o, s]}", "type", json_stringn(type, first), type + first + 1);
    return schema_of_name(type, length);
}

/* The schema of a member with its description; in OpenAPI 3.1 a reference may have one too. */
static json_t *member_schema(size_t row)
{
    json_t *schema = schema_of_type(MEMBERS[row].type);
    json_object_set_new(schema, "description", json_string(MEMBERS[row].help));
    return schema;
}

json_t *api_contract_schemas(void)
{
    json_t *schemas = json_object();
    for (size_t i = 0; i < COUNT_OF(MEMBERS); i++) {
        json_t *schema = json_object_get(schemas, MEMBERS[i].schema);
        if (!schema) {
            schema = json_pack("{s:s, s:[], s:{}}", "type", "object", "required", "properties");
            json_object_set_new(schemas, MEMBERS[i].schema, schema);
        }
        size_t length = strcspn(MEMBERS[i].member, "?");
        json_t *name = json_stringn(MEMBERS[i].member, length);
        json_object_set_new(json_object_get(schema, "properties"), json_string_value(name),
                            member_schema(i));
        if (MEMBERS[i].member[length] == '?')
            json_decref(name);
        else
            json_array_append_new(json_object_get(schema, "required"), name);
    }
    json_object_set_new(schemas, "ComparedAxes",
                        json_pack("{s:s, s:s, s:{s:s, s:o}}", "type", "object", "description",
                                  "the parts of each axis, by its name, in order; at most 64",
                                  "additionalProperties", "type", "array", "items",
                                  api_contract_reference("schemas", "ComparedAxisPart")));
    json_object_set_new(schemas, "Data",
                        json_pack("{s:[s, s, s], s:s, s:o}", "type", "array", "number", "null",
                                  "description",
                                  "numbers in nested lists; null where there is none: NaN or "
                                  "an infinity",
                                  "items", api_contract_reference("schemas", "Data")));
    /* beside name and scheme stand the scheme's parameters */
    json_object_set_new(json_object_get(schemas, "BatchItem"), "additionalProperties",
                        json_true());
    json_object_set_new(
        schemas, "Document",
        json_pack("{s:s, s:s}", "type", "object", "description", "an OpenAPI 3.1 document"));
    return schemas;
}

json_t *api_contract_example(const char *schema)
{
    for (size_t i = 0; i < COUNT_OF(EXAMPLES); i++)
        if (strcmp(EXAMPLES[i].schema, schema) == 0)
            return json_loads(EXAMPLES[i].text, 0, NULL);
    return NULL;
}
