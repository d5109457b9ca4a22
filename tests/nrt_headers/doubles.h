/* Doubles of the library's schedule calls, which write down what they were called with, and the
   programs that call them. In C and in C++. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the programs pass: addresses that are only compared, and never accessed. */
extern char the_ret[4];
extern char the_tracker[8];
extern char the_object[8];

/* Every call in every form, in the same order: in C, in C++, and with the form of 2.28. */
void calls_of_c(void);
void calls_of_cxx(void);
void calls_of_v2(void);
void calls_of_c_with_commas(void);
void calls_of_cxx_with_commas(void);

#ifdef __cplusplus
}
#endif
