// The command line of the NRT samples: MODEL.rai and options of one letter.
#pragma once

#include <stdbool.h>

// A whole number from 1 on; complains on standard error about anything else.
bool parse_count(const char* text, char option, long* count);
double milliseconds_now(void);  // of a clock that never goes back
