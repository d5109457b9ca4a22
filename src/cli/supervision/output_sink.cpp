#include "cli/supervision/output_sink.h"

#include <climits>

#include "base/printable.h"

namespace millrace::cli {

bool is_output_name(const std::string& name) {
  const bool known =
      name.ends_with(".bin") || name.ends_with(".npy") || name.ends_with(kNamedSuffix);
  return known && name.size() <= NAME_MAX && name.find('/') == std::string::npos &&
         is_printable(name);
}

}  // namespace millrace::cli
