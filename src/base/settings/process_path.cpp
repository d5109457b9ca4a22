#include "base/settings/process_path.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace millrace {

std::string process_path(std::string_view text) {
  std::string path(text);
  const std::string process = std::to_string(::getpid());
  for (size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at))
    path.replace(at, 2, process);
  std::error_code ignored;  // then the path stays as it is
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
  return ignored ? path : whole.string();
}

}  // namespace millrace
