// The command line of the NRT samples: options of one letter, --help, and MODEL.rai.
#pragma once

#include <stdbool.h>

// Returns the next option, like getopt() with `letters`, among them h, for which --help stands,
// too; -1 behind the last one.
int next_option(int argc, char** argv, const char* letters);
// Takes the one argument behind the options. Complains on standard error about anything else.
bool parse_model(int argc, char** argv, const char** model);
// A whole number from 1 on; complains on standard error about anything else.
bool parse_count(const char* text, char option, long* count);
// Shows how the program is called, and gives its exit code: asked for by the option 'h', this is
// an answer; after any other one, the end of a complaint.
int end_with_usage(const char* usage, int option);
// To be called last: the exit code, unless what was printed could not be written, which turns
// success into 1, with a line on standard error.
int finish_output(int exit_code);
double milliseconds_now(void);  // of a clock that never goes back
