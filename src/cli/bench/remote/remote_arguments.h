// The arguments of `millrace bench --url` as a text, for the program that has the protocol of the
// URL. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/commands.h"

namespace millrace::cli {

// Has those that matter for a server.
std::string text_of_arguments(const BenchArguments& arguments);
// kInvalidArgument for a text that is none.
Result<BenchArguments> arguments_of_text(const std::string& text);

}  // namespace millrace::cli
