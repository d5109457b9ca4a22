// Notes of commands: what a user should know although the command does its work. They go to
// standard error, so that they do not mix with results. One thread.
#pragma once

#include <string_view>

namespace millrace::cli {

// Prints a line "millrace: note: ..." with the text in printable form.
void print_note(std::string_view text);

}  // namespace millrace::cli
