/* What a request may say about a model's plan. */
#include "models/options.h"

#include "json/schema.h"

#include <string.h>

#define MOST 9007199254740992.0 /* 2^53 */

static const char *const CONVENTIONS[] = {"transformers-5", "transformers-4.53",
                                          NULL}; /* as api_convention */
static const char *const DTYPES[] = {"f32", "f64", "f16", "bf16", NULL};
static const char *const TABLES[] = {"half_width", "full", NULL};
static const char *const FORMATS[] = {"safetensors", "json", NULL};

enum option {
    LENGTH,
    OFFSET,
    DTYPE,
    TABLE,
    SEQ_LEN,
    IMAGE,
    FRAMES,
    COMPONENTS,
    CONVENTION,
    FORMAT,
    PARAMETERS,
    PLAN
};

static const pe_parameter ROWS[] = {
    [LENGTH] = {.name = "length",
                .type = PE_INTEGER,
                .minimum = 1,
                .maximum = MOST,
                .unit = "rows",
                .help = "rows of every table; by default what the config says, at most 4096, "
                        "and 512 where queries meet keys"},
    [OFFSET] = {.name = "offset",
                .type = PE_REAL,
                .minimum = -MOST,
                .maximum = MOST,
                .unit = "positions",
                .help = "position of row 0; by default that of the model's first token"},
    [DTYPE] = {.name = "dtype",
               .type = PE_CHOICE,
               .choices = DTYPES,
               .help = "element type of real tensors; by default that of the scheme"},
    [TABLE] = {.name = "table",
               .type = PE_CHOICE,
               .choices = TABLES,
               .help = "rotary tables with one column for each frequency, or with all columns "
                       "of a head"},
    [SEQ_LEN] = {.name = "seq_len",
                 .type = PE_INTEGER,
                 .minimum = 1,
                 .maximum = MOST,
                 .unit = "positions",
                 .help = "length of the sequence, where the frequencies depend on it: "
                         "rope_type dynamic and longrope"},
    [IMAGE] = {.name = "image",
               .type = PE_INTEGER_LIST,
               .minimum = 1,
               .maximum = 65536,
               .unit = "pixels",
               .help = "height and width of the image, or one number for both; by default what "
                       "the config says"},
    [FRAMES] = {.name = "frames",
                .type = PE_INTEGER,
                .minimum = 1,
                .maximum = 65536,
                .unit = "frames",
                .help = "frames of the video; by default what the config says"},
    [COMPONENTS] = {.name = "components",
                    .help =
                        "names of the components to include, with commas between them, such "
                        "as text,vision; by default all"},
    [CONVENTION] = {.name = "convention",
                    .type = PE_CHOICE,
                    .choices = CONVENTIONS,
                    .default_text = "transformers-5",
                    .help = "the release of Hugging Face's library that is followed, where "
                            "releases differ"},
    [FORMAT] = {.name = "format",
                .type = PE_CHOICE,
                .choices = FORMATS,
                .help = "representation of the tensors; without it Accept decides. A plan is "
                        "always JSON"},
    [PARAMETERS] = {.name = "parameters",
                    .type = PE_STORED,
                    .help = "name of a stored set with the model's trained tables; without it "
                            "they are left out"},
    [PLAN] = {.name = "plan",
              .type = PE_BOOLEAN,
              .default_text = "false",
              .help = "true: what there is and why, without the tensors"},
};
#define ROW_COUNT (sizeof ROWS / sizeof *ROWS)

const pe_parameter *api_model_option_rows(size_t *ret_count)
{
    *ret_count = ROW_COUNT;
    return ROWS;
}

static json_t *names_schema(void)
{
    return json_pack("{s:s, s:{s:s}, s:i}", "type", "array", "items", "type", "string",
                     "minItems", 1);
}

json_t *api_model_option_schema(size_t row)
{
    return row == COMPONENTS ? names_schema() : api_parameter_schema(&ROWS[row]);
}

json_t *api_model_option_describe(size_t row)
{
    if (row != COMPONENTS)
        return api_describe_parameter(&ROWS[row]);
    return json_pack("{s:s, s:s, s:b, s:n, s:s}", "name", ROWS[row].name, "type", "array",
                     "required", 0, "default", "help", ROWS[row].help);
}

/* Read the pixels of an image, one number or two. */
static void read_image(const pe_argument *argument, api_model_options *options,
                       pe_error *reterr)
{
    double pixels[2];
    pe_value value;
    if (!pe_argument_read(&ROWS[IMAGE], argument, pixels, 2, &value, reterr))
        return;
    options->height = (int64_t)pixels[0];
    options->width = (int64_t)pixels[value.count - 1];
}

static void read_option(enum option option, const pe_argument *argument,
                        api_model_options *options, pe_error *reterr)
{
    pe_value value;
    if (option == IMAGE) {
        read_image(argument, options, reterr);
        return;
    }
    if (option == PARAMETERS) { /* the scheme checks the name */
        options->parameters = argument->text;
        return;
    }
    if (option == COMPONENTS) { /* the plan checks the names */
        options->components = argument->text;
        return;
    }
    if (!pe_argument_read(&ROWS[option], argument, NULL, 0, &value, reterr))
        return;
    switch (option) {
    case LENGTH:
        options->length = value.integer;
        break;
    case OFFSET:
        options->offset = argument->text;
        break;
    case DTYPE:
        options->dtype = argument->text;
        break;
    case TABLE:
        options->table = argument->text;
        break;
    case SEQ_LEN:
        options->seq_len = value.integer;
        break;
    case FRAMES:
        options->frames = value.integer;
        break;
    case CONVENTION:
        options->convention = (api_convention)value.integer;
        break;
    case PLAN:
        options->plan = value.integer;
        break;
    case FORMAT:
        options->format = FORMATS[value.integer];
        break;
    case IMAGE:
    case COMPONENTS:
    case PARAMETERS:
        break;
    }
}

static void refuse_stranger(const pe_argument *argument, pe_error *reterr)
{
    const char *names[ROW_COUNT];
    for (size_t i = 0; i < ROW_COUNT; i++)
        names[i] = ROWS[i].name;
    pe_problem *problem =
        pe_error_add(reterr, PE_MALFORMED, argument->name, argument->text ? argument->text : "",
                     "one of length, offset, dtype, table, seq_len, image, frames, "
                     "components, convention, format, parameters and plan");
    problem->reason = PE_REASON_UNKNOWN;
    pe_problem_suggest(problem, pe_nearest(argument->name, names, ROW_COUNT));
}

void api_model_options_read(const api_arguments *arguments, api_model_options *ret_options,
                            pe_error *reterr)
{
    bool given[ROW_COUNT] = {false};
    *ret_options = (api_model_options){.convention = API_CONVENTION_5};
    for (size_t i = 0; i < arguments->count; i++) {
        const pe_argument *argument = &arguments->items[i];
        size_t row = 0;
        while (row < ROW_COUNT && strcmp(ROWS[row].name, argument->name) != 0)
            row++;
        if (row == ROW_COUNT)
            refuse_stranger(argument, reterr);
        else if (argument->text && given[row]) /* one without a text is a problem already */
            pe_error_add_repetition(reterr, argument);
        else if (argument->text)
            read_option((enum option)row, argument, ret_options, reterr);
        if (row < ROW_COUNT)
            given[row] = true;
    }
    if (ret_options->plan && ret_options->format && strcmp(ret_options->format, "json") != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "format", ret_options->format,
                     "json with plan=true, or left out");
    ret_options->convention_name = CONVENTIONS[ret_options->convention];
}
