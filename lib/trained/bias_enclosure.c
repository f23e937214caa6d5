/* The network in doubles, with bounds of its errors. */
#include "trained/bias_enclosure.h"

#include "kernels/kernel.h"

#include <math.h>

#define SIGMOID_PRICE 500

static size_t count_panels(uint64_t heads)
{
    return (size_t)((heads + PE_MATRIX_LANES - 1) / PE_MATRIX_LANES);
}

static size_t count_doubles(uint64_t heads, uint64_t hidden)
{
    const size_t outputs = count_panels(heads) * PE_MATRIX_LANES;
    return (size_t)hidden * (4 + outputs) + 3 * (size_t)heads + outputs;
}

uint64_t pe_bias_enclosure_bytes(uint64_t heads, uint64_t hidden)
{
    return count_doubles(heads, hidden) * sizeof(double) + hidden * sizeof(uint32_t);
}

double pe_bias_enclose_price(uint64_t heads, uint64_t hidden)
{
    return (double)hidden * (10 + (double)heads) + (double)heads * SIGMOID_PRICE;
}

static double find_number(const pe_bias_weight *weight)
{
    double size = ldexp((double)weight->significand, -(int)weight->shift);
    return weight->negative ? -size : size;
}

/* Copy the weights of the second layer into panels, and add up the bounds of a head. */
static void take_head(pe_bias_enclosure *own, const pe_bias_weight *w2, size_t head)
{
    double *bounds = own->bounds + 3 * head;
    double *panel = own->w2 + head / PE_MATRIX_LANES * PE_MATRIX_LANES * own->hidden;
    bounds[0] = bounds[1] = bounds[2] = 0;
    for (size_t j = 0; j < own->hidden; j++) {
        double weight = find_number(&w2[j]);
        panel[j * PE_MATRIX_LANES + head % PE_MATRIX_LANES] = weight;
        bounds[0] += fabs(weight * own->w1[2 * j]);
        bounds[1] += fabs(weight * own->w1[2 * j + 1]);
        bounds[2] += fabs(weight * own->b1[j]);
    }
}

bool pe_bias_enclosure_init(pe_bias_enclosure *ret_enclosure, const pe_bias_network *network,
                            pe_pace *pace)
{
    const size_t heads = network->heads, hidden = network->hidden, panels = count_panels(heads);
    pe_bias_enclosure *own = ret_enclosure;
    *own = (pe_bias_enclosure){.heads = heads, .hidden = hidden, .panels = panels};
    own->w1 = pe_keep_zeros(pace, count_doubles(heads, hidden), sizeof *own->w1);
    own->active = pe_keep(pace, hidden, sizeof *own->active);
    if (!own->w1 || !own->active)
        return false;
    own->b1 = own->w1 + 2 * hidden;
    own->units = own->b1 + hidden;
    own->w2 = own->units + hidden;
    own->outputs = own->w2 + panels * PE_MATRIX_LANES * hidden;
    own->bounds = own->outputs + panels * PE_MATRIX_LANES;
    for (size_t j = 0; j < hidden; j++) {
        own->w1[2 * j] = find_number(&network->w1[2 * j]);
        own->w1[2 * j + 1] = find_number(&network->w1[2 * j + 1]);
        own->b1[j] = find_number(&network->b1[j]);
    }
    for (size_t h = 0; h < heads; h++)
        take_head(own, network->w2 + h * hidden, h);
    return true;
}

/* 16 / (1 + exp(-output)), given exp(-|output|). */
static double compute_bias(double output, double power)
{
    return (output < 0 ? 16 * power : 16) / (1 + power);
}

/* In units of 2^-53, with M = |w1 y| + |w1 x| + |b1| of a unit: a coordinate is off by one, and
 * each of two products and two sums rounds, so a unit is off by less than 5 M, and as much
 * after relu. An output adds one product and one sum for each unit, so it is off by less than
 * (hidden + 7) times the sum of |w2| M, which `bounds` gives but for its own rounding. An error
 * e of an output is a relative error of a bias of at most e^e - 1, and one of the power of at
 * most as much. */
bool pe_bias_enclose(const pe_bias_enclosure *enclosure, const double coordinates[2],
                     double *ret_low, double *ret_high)
{
    const double y = coordinates[0], x = coordinates[1];
    const double factor = ((double)enclosure->hidden + 16) * 0x1p-53;
    size_t count = 0;
    for (size_t j = 0; j < enclosure->hidden; j++) {
        double unit =
            enclosure->w1[2 * j] * y + enclosure->w1[2 * j + 1] * x + enclosure->b1[j];
        enclosure->units[j] = unit;
        enclosure->active[count] = (uint32_t)j;
        count += unit > 0;
    }
    pe_kernel_get()->multiply(enclosure->w2, enclosure->panels, enclosure->hidden,
                              enclosure->units, enclosure->active, count, enclosure->outputs);
    for (size_t h = 0; h < enclosure->heads; h++)
        ret_low[h] = -fmin(fabs(enclosure->outputs[h]), PE_CURVE_EXPONENT_MAX);
    pe_kernel_get()->curves->exponentials(ret_low, enclosure->heads, ret_high);
    for (size_t h = 0; h < enclosure->heads; h++) {
        const double *bounds = enclosure->bounds + 3 * h;
        double error = factor * (bounds[0] * fabs(y) + bounds[1] * fabs(x) + bounds[2]);
        if (enclosure->outputs[h] - error <= PE_BIAS_OUTPUT_MIN)
            return false;
        double bias = compute_bias(enclosure->outputs[h], ret_high[h]);
        double of_power = (4 - ret_low[h]) * 0x1p-51; /* as lib/kernels/curves.h says */
        double slack = bias * (1.01 * error + of_power + 0x1p-50);
        ret_low[h] = bias - slack;
        ret_high[h] = bias + slack;
    }
    return true;
}
