#include "cli/notes.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/printable.h"

namespace millrace::cli {

void print_note(std::string_view text) {
  fmt::print(stderr, "millrace: note: {}\n", printable(text));
}

}  // namespace millrace::cli
