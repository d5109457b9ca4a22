// The kinds of options that commands have, so that every command reads choices, counts, times and
// lists in the same way. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace millrace::cli {

// The option takes one of these words.
CLI::Option* as_choice(CLI::Option* option, const std::vector<std::string>& words);

// The option takes a count of at least `least` and at most `most`, such as 1000, 1e3 or 1k.
CLI::Option* as_count(CLI::Option* option, uint64_t least = 0,
                      uint64_t most = std::numeric_limits<uint32_t>::max());

// The option takes a number of at least `least` and at most `most`.
CLI::Option* as_number(CLI::Option* option, double least,
                       double most = std::numeric_limits<double>::max());

// The option takes a time in any unit, such as 10, 10s or 500ms. Its variable has seconds.
CLI::Option* as_seconds(CLI::Option* option);

// Sets what the option takes, as help shows it, such as FILE.
CLI::Option* taking(CLI::Option* option, const char* what);

// Makes every option of the command take one argument for each time that it is given, so that no
// option takes a positional argument that follows it. Lists have commas, or repeat the option.
void take_one_argument_each(CLI::App& command);

}  // namespace millrace::cli
