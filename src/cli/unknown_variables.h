// Finds misspelt environment variables. Thread-safe as long as no thread changes the environment.
#pragma once

#include <string>

namespace millrace::cli {

// Returns "; did you mean MILLRACE_FAULTS?" for a variable that nothing reads; empty if no name of
// a variable of Millrace is near.
std::string meant_variable(const std::string& unknown);

// Prints a note (notes.h) for each variable MILLRACE_... that is set and that nothing reads.
void note_unknown_variables();

}  // namespace millrace::cli
