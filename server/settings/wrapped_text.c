#include "settings/wrapped_text.h"

#include <string.h>

void wrapped_text_print(const char *text, int indent, size_t width, FILE *out)
{
    size_t used = 0;
    while (*text) {
        const size_t word = strcspn(text, " ");
        if (used > 0 && used + 1 + word > width) {
            fprintf(out, "\n%*s", indent, "");
            used = 0;
        }
        used += (size_t)fprintf(out, "%s%.*s", used > 0 ? " " : "", (int)word, text);
        text += word + (text[word] == ' ');
    }
    fputs("\n", out);
}
