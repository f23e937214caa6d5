/* Powers of two with real exponents. */
#ifndef PE_EXPONENT_H
#define PE_EXPONENT_H

#include "dd.h"

/* 2^x for |x.hi| <= 1000, within 2^-94 of its magnitude; exact where x is an integer. */
dd pe_exp2(dd x);

#endif
