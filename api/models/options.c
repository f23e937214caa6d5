/* What a request may say about a model's plan. */
#include "models/options.h"

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
    SET,
    PLAN
};

/* clang-format off */
/* a row of a number, and one of a word */
#define NUMBER(its_type, its_name, least, most, its_unit, its_help)                            \
    {.name = (its_name), .type = (its_type), .minimum = (least), .maximum = (most),            \
     .unit = (its_unit), .help = (its_help)}
#define WORD(its_name, its_choices, its_help)                                                  \
    {.name = (its_name), .type = PE_CHOICE, .choices = (its_choices), .help = (its_help)}
/* clang-format on */

static const pe_parameter ROWS[] = {
    [LENGTH] = NUMBER(PE_INTEGER, "length", 1, MOST, "rows",
                      "rows of every table; by default what the config says, at most 4096, "
                      "and 512 where queries meet keys"),
    [OFFSET] = NUMBER(PE_REAL, "offset", -MOST, MOST, "positions",
                      "position of row 0; by default that of the model's first token"),
    [DTYPE] =
        WORD("dtype", DTYPES, "element type of real tensors; by default that of the scheme"),
    [TABLE] = WORD("table", TABLES,
                   "rotary tables with one column for each frequency, or with all columns "
                   "of a head"),
    [SEQ_LEN] = NUMBER(PE_INTEGER, "seq_len", 1, MOST, "positions",
                       "length of the sequence, where the frequencies depend on it: "
                       "rope_type dynamic and longrope"),
    [IMAGE] = {.name = "image",
               .type = PE_INTEGER_LIST,
               .minimum = 1,
               .maximum = 65536,
               .list_length = 2,
               .unit = "pixels",
               .help = "height and width of the image, or one number for both; by default what "
                       "the config says"},
    [FRAMES] = NUMBER(PE_INTEGER, "frames", 1, 65536, "frames",
                      "frames of the video; by default what the config says"),
    [COMPONENTS] = {.name = "components",
                    .type = PE_TEXT_LIST,
                    .help =
                        "names of the components to include, with commas between them, such "
                        "as text,vision; by default all"},
    [CONVENTION] = {.name = "convention",
                    .type = PE_CHOICE,
                    .choices = CONVENTIONS,
                    .default_text = "transformers-5",
                    .help = "the release of Hugging Face's library that is followed, where "
                            "releases differ"},
    [FORMAT] = WORD("format", FORMATS,
                    "the tensors, as a safetensors file or as JSON; without it the answer "
                    "is the plan, unless Accept prefers application/vnd.safetensors"),
    [SET] = {.name = "set",
             .old_name = "parameters",
             .type = PE_STORED,
             .help = "name of a set with the model's trained tables; without it "
                     "they are left out"},
    [PLAN] = {.name = "plan",
              .type = PE_BOOLEAN,
              .help = "true: the plan, whatever Accept says: what there is, why, and the "
                      "requests of the tensors; false: the tensors"},
};
#define ROW_COUNT (sizeof ROWS / sizeof *ROWS)

const pe_parameter *api_model_option_rows(size_t *ret_count)
{
    *ret_count = ROW_COUNT;
    return ROWS;
}

/* The text of an option that is legal; NULL if it is not given. */
static const char *find_text(const pe_options *options, enum option option)
{
    return pe_options_value(options, option)->present ? pe_options_text(options, option) : NULL;
}

static api_model_answer read_answer(const pe_options *options)
{
    const pe_value *plan = pe_options_value(options, PLAN);
    if (plan->present)
        return plan->integer ? API_MODEL_PLAN : API_MODEL_TENSORS;
    if (pe_options_value(options, FORMAT)->present)
        return API_MODEL_TENSORS;
    return API_MODEL_BY_ACCEPT;
}

void api_model_options_read(const api_arguments *arguments, api_model_options *ret_options,
                            pe_error *reterr)
{
    pe_options *options =
        pe_options_read(ROWS, ROW_COUNT, arguments->items, arguments->count, reterr);
    const pe_value *image = pe_options_value(options, IMAGE);
    *ret_options = (api_model_options){
        .length = pe_options_value(options, LENGTH)->integer,
        .offset = find_text(options, OFFSET),
        .dtype = find_text(options, DTYPE),
        .table = find_text(options, TABLE),
        .seq_len = pe_options_value(options, SEQ_LEN)->integer,
        .height = image->present ? (int64_t)image->items[0] : 0,
        .width = image->present ? (int64_t)image->items[image->count - 1] : 0,
        .frames = pe_options_value(options, FRAMES)->integer,
        .components = find_text(options, COMPONENTS), /* the plan checks the names */
        .convention = (api_convention)pe_options_value(options, CONVENTION)->integer,
        .answer = read_answer(options),
        .format = find_text(options, FORMAT),
        .set = find_text(options, SET), /* the scheme checks the name */
        .read = options,
    };
    if (ret_options->answer == API_MODEL_PLAN && ret_options->format &&
        strcmp(ret_options->format, "json") != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "format", ret_options->format,
                     "json with plan=true, or left out");
    ret_options->convention_name = CONVENTIONS[ret_options->convention];
}

void api_model_options_done(api_model_options *options)
{
    pe_options_free(options->read);
}
