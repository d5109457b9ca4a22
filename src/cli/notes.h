// Notes of commands: what a user should know although the command does its work. They go to
// standard error, so that they do not mix with results, unless the process has not called
// allow_notes(), as one that has loaded the Python package. One thread.
#pragma once

#include <string_view>

namespace millrace::cli {

// Lets this process print notes. To be called by main().
void allow_notes() noexcept;

// Prints "millrace: note: ..." with the text as printable_message() returns it.
void print_note(std::string_view text);

}  // namespace millrace::cli
