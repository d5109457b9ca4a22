#include "cli/print_escaped.h"

#include <cstdio>

namespace millrace::cli {

void print_escaped_lines(std::string_view text) {
  const std::string shown = printable_lines(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace millrace::cli
