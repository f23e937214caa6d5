/* What the operator says for pages: whose may show the visualiser in a frame, and where its
 * source is. */
#ifndef ORIGINS_H
#define ORIGINS_H

#include <stdbool.h>

/* What such a list looks like, to complete "X is not …". */
#define ORIGINS_FORM                                                                           \
    "* or origins with blanks between them, such as https://wiki.example "                     \
    "https://*.school.example"

/* Whether a text is such a list: nothing in it ends the directive of a policy, and it fits a
 * header. */
bool origins_are_clear(const char *text);

/* What a link looks like, to complete "X is not …". */
#define LINK_FORM "an http or https address, such as https://wiki.example/posenc"

/* Whether a text is such an address, which a page may show as a link. */
bool link_is_clear(const char *text);

#endif
