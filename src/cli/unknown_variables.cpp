#include "cli/unknown_variables.h"

#include <fmt/format.h>

#include <vector>

#include "base/settings/variables.h"
#include "cli/arguments/suggestion.h"
#include "cli/notes.h"

namespace millrace::cli {

std::string meant_variable(const std::string& unknown) {
  const auto known = known_variables();
  return did_you_mean(unknown, std::vector<std::string>(known.begin(), known.end()));
}

void note_unknown_variables() {
  for (const std::string& name : unknown_variables())
    print_note(fmt::format("{} is set, but nothing reads it{}", name, meant_variable(name)));
}

}  // namespace millrace::cli
