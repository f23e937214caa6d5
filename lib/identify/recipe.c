#include "identify/recipe.h"

#include "numerics/dtype.h"
#include "recognise/quick_cosine.h"

#include <math.h>
#include <stdlib.h>

const pe_recipe pe_recipes[PE_RECIPES] = {
    {PE_PRODUCT, PE_F32, PE_F32, PE_F32, PE_F32, "float32 positions times float32 frequencies"},
    {PE_PRODUCT, PE_F64, PE_F32, PE_F64, PE_F64, "float64 positions times float32 frequencies"},
    {PE_QUOTIENT, PE_F32, PE_F32, PE_F32, PE_F32,
     "float32 positions divided by float32 powers"},
    {PE_QUOTIENT, PE_F64, PE_F32, PE_F64, PE_F64,
     "float64 positions divided by float32 powers"},
    {PE_SCALED, PE_F32, PE_F32, PE_F32, PE_F32,
     "float32 positions, divided by a factor, times float32 frequencies"},
    {PE_PRODUCT, PE_F32, PE_BF16, PE_F32, PE_F32,
     "float32 positions times bfloat16 frequencies"},
    {PE_PRODUCT, PE_F32, PE_F16, PE_F32, PE_F32, "float32 positions times float16 frequencies"},
    {PE_PRODUCT, PE_BF16, PE_BF16, PE_BF16, PE_BF16, "all in bfloat16"},
    {PE_PRODUCT, PE_F32, PE_F32, PE_BF16, PE_F32,
     "float32 positions times float32 frequencies, products in bfloat16"},
    {PE_PRODUCT, PE_BF16, PE_BF16, PE_BF16, PE_F32,
     "bfloat16 positions and frequencies, products in bfloat16"},
    {PE_PRODUCT, PE_BF16, PE_F32, PE_F32, PE_F32,
     "bfloat16 positions times float32 frequencies"},
    {PE_PRODUCT, PE_BF16, PE_BF16, PE_F32, PE_F32,
     "bfloat16 positions and frequencies, float32 products"},
};

/* pe_round_number, which is a call, for numbers of which there are many. */
static inline double round_number(double number, pe_dtype format)
{
    return format == PE_F32 ? (double)(float)number : pe_round_number(number, format);
}

double pe_recipe_angle(const pe_recipe *recipe, double position, double factor,
                       double frequency)
{
    if (recipe->form == PE_SCALED)
        position = round_number(position, PE_F32) / (double)(float)factor;
    position = round_number(position, recipe->position);
    return round_number(recipe->form == PE_QUOTIENT ? position / frequency
                                                    : position * frequency,
                        recipe->angle);
}

/* Round a number to the table's dtype, or to the fewer digits that its numbers have. */
static double round_entry(const pe_recipe_entries *entries, double number)
{
    int exponent;
    number = round_number(number, entries->dtype);
    if (entries->unit == 0)
        return number;
    const double part = frexp(number, &exponent);
    return ldexp(rint(part / entries->unit * 2) * entries->unit / 2, exponent);
}

/* Whether a number is a sine or cosine as float64's functions give it, by some roundings: of
 * the result, and of what the quarter turns leave of a large angle here. */
static bool is_double(double found, double exact, double angle)
{
    return fabs(found - exact) <= 0x1p-50 * fabs(exact) + 0x1p-85 * fabs(angle);
}

int pe_recipe_distance(const pe_recipe *recipe, const pe_recipe_entries *entries, double angle,
                       int quarters, double found)
{
    const double exact = pe_quick_cosine(angle, quarters);
    const float amplitude = (float)entries->amplitude, value = (float)exact;
    if (entries->dtype == PE_F64)
        return is_double(found / entries->amplitude, exact, angle) ? 0 : 2;
    for (int i = 0; i < 3; i++) {
        float near = i == 0 ? value : nextafterf(value, i == 1 ? INFINITY : -INFINITY);
        double scaled =
            (double)(amplitude * (float)round_number((double)near, recipe->function));
        if (round_entry(entries, scaled) == found)
            return i > 0;
    }
    return 2;
}
