#include "cli/conformance/test_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

namespace millrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuites[] = {"node", "pytorch-converted", "pytorch-operator", "simple"};

// Returns the folders in `parent`, in the order of their names.
Result<std::vector<fs::path>> folders_in(const fs::path& parent) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) folders.push_back(it->path());
    if (error) break;
  }
  if (error) return io_error("read the folder " + parent.string(), error.value());
  std::ranges::sort(folders);
  return folders;
}

}  // namespace

std::string suite_of(const std::string& case_name) {
  return case_name.substr(0, case_name.find('/'));
}

Result<std::vector<TestCase>> find_cases(const std::string& directory) {
  std::vector<TestCase> cases;
  for (const std::string suite : kSuites) {
    const fs::path folder = fs::path(directory) / suite;
    std::error_code error;
    if (!fs::is_directory(folder, error)) continue;
    MILLRACE_ASSIGN_OR_RETURN(const auto folders, folders_in(folder));
    for (const fs::path& one : folders)
      cases.push_back({fmt::format("{}/{}", suite, one.filename().string()), one});
  }
  if (!cases.empty()) return cases;
  return Status(StatusCode::kNotFound,
                fmt::format("{} has no cases in the folders {}: --onnx-tests names the folder that "
                            "contains these",
                            directory, fmt::join(kSuites, ", ")));
}

bool fits_pattern(const std::string& case_name, const std::string& pattern) {
  const std::string short_name = case_name.substr(case_name.find('/') + 1);
  return ::fnmatch(pattern.c_str(), case_name.c_str(), 0) == 0 ||
         ::fnmatch(pattern.c_str(), short_name.c_str(), 0) == 0;
}

Result<std::vector<fs::path>> find_data_sets(const TestCase& test) {
  MILLRACE_ASSIGN_OR_RETURN(auto folders, folders_in(test.folder));
  std::erase_if(folders, [](const fs::path& folder) {
    return !folder.filename().string().starts_with("test_data_set_");
  });
  return folders;
}

size_t count_tensors(const fs::path& data_set, const std::string& prefix) {
  size_t count = 0;
  std::error_code error;
  while (fs::exists(data_set / fmt::format("{}{}.pb", prefix, count), error)) ++count;
  return count;
}

}  // namespace millrace::cli
