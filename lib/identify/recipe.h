/* How libraries compute a sine or cosine: in which formats positions, frequencies, their
 * products and the functions of these are rounded. */
#ifndef PE_RECIPE_H
#define PE_RECIPE_H

#include "posenc.h"

typedef enum pe_recipe_form {
    PE_PRODUCT,  /* position · frequency */
    PE_QUOTIENT, /* position / divisor */
    PE_SCALED,   /* (position / factor) · frequency: positions are a fraction apart */
} pe_recipe_form;

typedef struct pe_recipe {
    pe_recipe_form form;
    pe_dtype position, frequency, angle, function;
    const char *text;
} pe_recipe;

/* The first ones are of tables as near as float32 arithmetic brings them. */
#define PE_FLOAT_RECIPES 5
#define PE_RECIPES       12
extern const pe_recipe pe_recipes[PE_RECIPES];

/* The angle of a position by a frequency or divisor, as it was rounded. */
double pe_recipe_angle(const pe_recipe *recipe, double position, double factor,
                       double frequency);

/* What the entries of a table have been rounded to. */
typedef struct pe_recipe_entries {
    double amplitude;
    pe_dtype dtype;
    double unit; /* of the pe_view */
} pe_recipe_entries;

/* How far an entry is from what an angle gives: 0 if it is that, 1 if it is what a neighbouring
 * float would be rounded to, 2 if it is neither. Functions of float64 tables are float64's,
 * whatever the angle was rounded to: else their entries would be float32 numbers. */
int pe_recipe_distance(const pe_recipe *recipe, const pe_recipe_entries *entries, double angle,
                       int quarters, double found);

#endif
