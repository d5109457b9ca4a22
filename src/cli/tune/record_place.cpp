#include "cli/tune/record_place.h"

#include <filesystem>
#include <system_error>

namespace millrace::cli {

std::string record_beside(const std::string& model) {
  namespace fs = std::filesystem;
  const fs::path name = fs::path(model).filename();
  if (!name.empty() && name != "." && name != "..") return model + ".tuning";
  std::error_code error;
  fs::path directory = fs::weakly_canonical(model, error);
  if (error) directory = model;
  // The canonical path of a directory that does not exist yet keeps the slash.
  if (!directory.has_filename()) directory = directory.parent_path();
  return directory.string() + ".tuning";
}

}  // namespace millrace::cli
