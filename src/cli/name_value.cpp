#include "cli/name_value.h"

#include <fmt/format.h>

namespace millrace::cli {

Result<NameValue> split_name_value(const std::string& text) {
  const size_t separator = text.rfind('=');
  if (separator == std::string::npos || separator == 0 || separator + 1 == text.size())
    return invalid_argument(fmt::format("'{}' is not of the form NAME=VALUE", text));
  return NameValue{text.substr(0, separator), text.substr(separator + 1)};
}

}  // namespace millrace::cli
