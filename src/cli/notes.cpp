#include "cli/notes.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/printable_message.h"

namespace millrace::cli {
namespace {

bool notes_are_allowed = false;

}  // namespace

void allow_notes() noexcept {
  notes_are_allowed = true;
}

void print_note(std::string_view text) {
  if (!notes_are_allowed) return;
  fmt::print(stderr, "millrace: note: {}\n", printable_message(text));
}

}  // namespace millrace::cli
