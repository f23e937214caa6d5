/* The page names its preview between two comments (server/visualiser/index.html). What is put
 * in their place holds texts of the query, and so is escaped, and bounded: settings that are
 * longer have no picture. */
#include "endpoints/preview.h"

#include "formats/slice.h"
#include "http/arguments.h"
#include "representations/representation.h"

#include <stdio.h>
#include <string.h>

#define BEGINNING  "<!-- preview -->"
#define END        "<!-- end of preview -->"
#define DRAWN      "property=\"og:image\" content=\"" /* before the address of the picture */
#define TARGET_MAX 1024                               /* bytes of the picture's address */
#define TOLD_MAX   40                                 /* bytes of a value in the description */
#define SIDE       320  /* pixels that the shorter side of a picture has at least, … */
#define SIDE_MAX   2048 /* … unless the longer one would have more than this */
#define SCALE_MAX  16

typedef struct preview {
    const pe_scheme *scheme;
    const pe_scheme_info *other; /* the scheme of the right side, if there is one */
    char target[TARGET_MAX];     /* of the picture; "": there is none */
    uint64_t width, height;
    bool starved; /* memory ran out */
} preview;

/* ---- the query ---- */

static bool is_name(const char *own, const char *name, size_t length)
{
    return own && strlen(own) == length && memcmp(own, name, length) == 0;
}

/* The text of the first pair of a name, as it is; NULL if there is none. */
static const char *find_text(const char *query, const char *name, size_t *ret_length)
{
    for (api_query_pair pair; api_query_next(&query, &pair);) {
        if (pair.name == pair.size || !is_name(name, pair.text, pair.name))
            continue;
        *ret_length = pair.size - pair.name - 1;
        return pair.text + pair.name + 1;
    }
    return NULL;
}

/* The scheme that a pair of the query names, or NULL. */
static const pe_scheme *find_scheme(const char *query, const char *name)
{
    char scheme[64];
    size_t length;
    const char *text = find_text(query, name, &length);
    if (!text || length >= sizeof scheme)
        return NULL;
    snprintf(scheme, sizeof scheme, "%.*s", (int)length, text);
    return pe_scheme_find(scheme);
}

static bool has_parameter(const pe_scheme_info *info, const char *name, size_t length)
{
    bool found = is_name("preset", name, length);
    for (size_t i = 0; !found && i < pe_all_parameter_count(info); i++) {
        const pe_parameter *own = pe_parameter_at(info, i);
        found = is_name(own->name, name, length) || is_name(own->old_name, name, length);
    }
    return found;
}

/* Append the pairs of the query that are the scheme's own to a text in which `used` bytes
 * stand. What a network, a newsletter or the page's views have added is none of them. Returns
 * the new length, or 0 if there is no room. */
static size_t add_settings(const pe_scheme_info *info, const char *query, char *dst,
                           size_t used)
{
    for (api_query_pair pair; api_query_next(&query, &pair);) {
        if (!has_parameter(info, pair.text, pair.name))
            continue;
        if (used + pair.size + 2 > TARGET_MAX)
            return 0;
        used +=
            (size_t)snprintf(dst + used, TARGET_MAX - used, "%.*s&", (int)pair.size, pair.text);
    }
    return used;
}

/* Append "name=text&" with the text of a pair of the query, if it is there. */
static size_t add_choice(const char *query, const char *pair, const char *name, char *dst,
                         size_t used)
{
    size_t length;
    const char *text = find_text(query, pair, &length);
    if (!text || used == 0)
        return used;
    if (used + strlen(name) + length + 3 > TARGET_MAX)
        return 0;
    return used +
           (size_t)snprintf(dst + used, TARGET_MAX - used, "%s=%.*s&", name, (int)length, text);
}

/* ---- the picture ---- */

static uint64_t choose_scale(uint64_t rows, uint64_t columns)
{
    uint64_t shorter = rows < columns ? rows : columns,
             longer = rows < columns ? columns : rows;
    uint64_t scale = (SIDE + shorter - 1) / shorter;
    if (scale * longer > SIDE_MAX)
        scale = SIDE_MAX / longer;
    return scale < 1 ? 1 : scale > SCALE_MAX ? SCALE_MAX : scale;
}

/* Whether the service draws this target, for everybody: then its size is stored. Nothing is
 * computed. Without memory the preview is noted as starved. */
static bool is_drawn(const api_call *call, preview *shown, uint64_t *ret_rows,
                     uint64_t *ret_columns)
{
    api_progress later = API_DONE; /* a set that would have to be read is not waited for */
    api_call asking = *call;
    api_representation representation;
    api_arguments arguments;
    api_reply *reply = NULL;
    pe_error error;
    asking.progress = &later;
    pe_error_init(&error);
    api_arguments_from_query(strchr(shown->target, '?') + 1, &arguments, &error);
    bool read = api_representation_select(&representation, &asking, shown->scheme, &arguments,
                                          &error, &reply);
    bool drawn = read && !representation.facts.stored;
    if (drawn) {
        api_slice slice = api_slice_select(&representation.selection);
        *ret_rows = slice.rows;
        *ret_columns = slice.columns;
        drawn = slice.rows > 0 && slice.columns > 0;
    } else if (!read && later == API_DONE) {
        shown->starved = !reply || api_reply_refusal(reply) == API_REFUSAL_OUT_OF_MEMORY;
    }
    api_representation_done(&representation);
    api_arguments_done(&arguments);
    api_reply_unref(reply);
    return drawn;
}

/* Choose the target of the picture: of the tensor and the matrix in it that the page shows,
 * else of its first matrix. */
static void choose_picture(const api_call *call, preview *shown)
{
    static const char *const SLICES[] = {"", "slice=0&", "slice=0,0&"};
    const pe_scheme_info *info = pe_scheme_describe(shown->scheme);
    char *target = shown->target;
    size_t used = (size_t)snprintf(target, TARGET_MAX, "/v1/encodings/%s?", info->name);
    used = add_settings(info, call->query, target, used);
    used = add_choice(call->query, "view.tensor", "tensor", target, used);
    used = add_choice(call->query, "view.slice", "slice", target, used);
    for (size_t i = 0; used > 0 && !shown->starved && i < sizeof SLICES / sizeof *SLICES; i++) {
        uint64_t rows, columns;
        int more = snprintf(target + used, TARGET_MAX - used, "%sformat=png", SLICES[i]);
        if (used + (size_t)more + sizeof "&scale=16" > TARGET_MAX)
            break;
        if (!is_drawn(call, shown, &rows, &columns))
            continue;
        uint64_t scale = choose_scale(rows, columns);
        size_t whole = used + (size_t)more;
        snprintf(target + whole, TARGET_MAX - whole, "&scale=%u", (unsigned)scale);
        if (!is_drawn(call, shown, &rows, &columns)) { /* too many pixels */
            target[whole] = '\0';
            scale = 1;
        }
        shown->width = columns * scale;
        shown->height = rows * scale;
        return;
    }
    *target = '\0';
}

/* ---- text ---- */

/* Append a text as HTML, also within quotes. */
static void add_escaped(api_text *text, const char *string, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = string[i];
        if (strchr("&<>\"'", c))
            api_text_add(text, "&#%d;", c);
        else
            api_text_put(text, &c, 1);
    }
}

/* Append where this service is, as the client names it, or nothing: then addresses are
 * relative, as in a page. A proxy that ends TLS says so. */
static void add_origin(api_text *text, const api_call *call)
{
    const char *host = api_call_header(call, API_HEADER_HOST);
    const char *proxied = api_call_header(call, API_HEADER_X_FORWARDED_PROTO);
    const char *forwarded = api_call_header(call, API_HEADER_FORWARDED);
    bool secure = (proxied && strncmp(proxied, "https", strlen("https")) == 0) ||
                  (forwarded && strstr(forwarded, "proto=https"));
    if (!host || !*host)
        return;
    api_text_add(text, "http%s://", secure ? "s" : "");
    add_escaped(text, host, strlen(host));
}

/* Append what is shown in words, as a value of an attribute: the scheme's summary, and the
 * settings that are given. */
static void add_description(api_text *text, const api_call *call, const preview *shown)
{
    const pe_scheme_info *info = pe_scheme_describe(shown->scheme);
    char settings[TARGET_MAX] = "";
    size_t length = shown->target[0] ? add_settings(info, call->query, settings, 0) : 0;
    api_arguments arguments;
    pe_error error;
    pe_error_init(&error);
    settings[length > 0 ? length - 1 : 0] = '\0'; /* the last & */
    add_escaped(text, info->summary, strlen(info->summary));
    api_text_add(text, length > 0 ? " Here with " : " ");
    api_arguments_from_query(settings, &arguments, &error);
    text->failed = text->failed || !arguments.text;
    for (size_t i = 0; i < arguments.count; i++) {
        const pe_argument *each = &arguments.items[i];
        if (!each->text || strlen(each->text) > TOLD_MAX)
            continue;
        add_escaped(text, each->name, strlen(each->name));
        api_text_add(text, " ");
        add_escaped(text, each->text, strlen(each->text));
        api_text_add(text, ", ");
    }
    api_text_add(text, "%s exactly and drawn as a picture.",
                 length > 0 ? "computed" : "Computed");
    api_arguments_done(&arguments);
}

static void add_title(api_text *text, const preview *shown)
{
    const pe_scheme_info *info = pe_scheme_describe(shown->scheme);
    add_escaped(text, info->title, strlen(info->title));
    if (!shown->other || shown->other == info)
        return;
    api_text_add(text, " and ");
    add_escaped(text, shown->other->title, strlen(shown->other->title));
}

/* Append the preview of what the query shows. `standard` is the address of the picture that the
 * page has without one. */
static void add_preview(api_text *text, const api_call *call, const preview *shown,
                        const char *standard)
{
    api_text description = {0};
    add_description(&description, call, shown);
    text->failed = text->failed || description.failed;
    api_text_add(text, "<title>");
    add_title(text, shown);
    api_text_add(text, " – posenc</title>\n<meta name=\"description\" content=\"");
    api_text_put(text, description.data, description.size);
    api_text_add(text, "\">\n<meta property=\"og:type\" content=\"website\">\n"
                       "<meta property=\"og:site_name\" content=\"posenc\">\n"
                       "<meta property=\"og:title\" content=\"");
    add_title(text, shown);
    api_text_add(text, "\">\n<meta property=\"og:description\" content=\"");
    api_text_put(text, description.data, description.size);
    api_text_done(&description);
    api_text_add(text, "\">\n<meta " DRAWN);
    add_origin(text, call);
    if (shown->target[0])
        add_escaped(text, shown->target, strlen(shown->target));
    else
        api_text_put(text, standard, strcspn(standard, "\""));
    if (shown->target[0])
        api_text_add(text,
                     "\">\n<meta property=\"og:image:width\" content=\"%llu\">\n"
                     "<meta property=\"og:image:height\" content=\"%llu",
                     (unsigned long long)shown->width, (unsigned long long)shown->height);
    api_text_add(text, "\">\n<meta name=\"twitter:card\" content=\"summary_large_image\">\n");
}

/* ---- pages ---- */

api_body *api_preview_body(const api_call *call, const api_asset *page)
{
    const char *whole = page->plain.data;
    const char *beginning = strstr(whole, BEGINNING), *end = strstr(whole, END);
    const char *standard = strstr(whole, DRAWN);
    size_t bytes;
    preview shown = {.scheme = find_scheme(call->query, "scheme")};
    api_text text = {0};
    if (!beginning || !end || !standard) /* the page has no preview */
        return api_body_from_table(NULL, NULL,
                                   &(api_segment){page->plain.data, page->plain.size}, 1);
    standard += strlen(DRAWN);
    if (shown.scheme) {
        const pe_scheme *other = find_scheme(call->query, "right.scheme");
        shown.other = other ? pe_scheme_describe(other) : NULL;
        choose_picture(call, &shown);
        text.failed = shown.starved;
        api_text_put(&text, whole, (size_t)(beginning - whole));
        add_preview(&text, call, &shown, standard);
    } else {
        api_text_put(&text, whole, (size_t)(standard - whole));
        add_origin(&text, call);
        end = standard;
    }
    api_text_put(&text, end, page->plain.size - (size_t)(end - whole));
    return api_body_take_text(&text, &bytes);
}

/* Append the address of the visualiser with the call's query, and one more pair. */
static void add_address(api_text *text, const api_call *call, const char *pair)
{
    const char *query = call->query && strlen(call->query) < TARGET_MAX ? call->query : "";
    api_text_add(text, "/?");
    add_escaped(text, query, strlen(query));
    api_text_add(text, "%s%s", *query && *pair ? "&#38;" : "", pair);
}

api_body *api_frame_refusal_body(const api_call *call)
{
    api_text text = {0};
    size_t bytes;
    api_text_add(
        &text, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>posenc</title>\n"
               "</head>\n<body>\n<p>In a page of another site posenc shows the picture alone. "
               "Give the frame this address, which ends in embed=1: <a href=\"");
    add_address(&text, call, "embed=1");
    api_text_add(&text, "\"><code>");
    add_address(&text, call, "embed=1");
    api_text_add(&text, "</code></a>.</p>\n<p><a href=\"");
    add_address(&text, call, "");
    api_text_add(&text, "\" target=\"_blank\" rel=\"noopener\">The whole page</a> opens in a "
                        "tab of its own. Whoever runs this service may let other sites frame "
                        "it, by <code>--frame-ancestors</code>.</p>\n</body>\n</html>\n");
    return api_body_take_text(&text, &bytes);
}
