/* Loops over elements of any dtype: copies of a constant size are single instructions. */
#ifndef PE_BY_SIZE_H
#define PE_BY_SIZE_H

/* Run a statement in which SIZE, the bytes of an element, is a constant: 1, 2, 4, 8 or 16. */
#define PE_BY_SIZE(bytes, ...)                                                                 \
    switch (bytes) {                                                                           \
        PE_BY_SIZE_CASE(case 1, 1, __VA_ARGS__)                                                \
        PE_BY_SIZE_CASE(case 2, 2, __VA_ARGS__)                                                \
        PE_BY_SIZE_CASE(case 4, 4, __VA_ARGS__)                                                \
        PE_BY_SIZE_CASE(case 8, 8, __VA_ARGS__)                                                \
        PE_BY_SIZE_CASE(default, 16, __VA_ARGS__)                                              \
    }
#define PE_BY_SIZE_CASE(label, number, ...)                                                    \
    label : {                                                                                  \
        enum { SIZE = number };                                                                \
        __VA_ARGS__;                                                                           \
        break;                                                                                 \
    }

#endif
