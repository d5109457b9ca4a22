// `millrace env`: prints shell commands that put this build's libraries, pkg-config files and
// programs in front of PKG_CONFIG_PATH, LD_LIBRARY_PATH and PATH.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/shell_word.h"
#include "cli/commands.h"

namespace millrace::cli {
namespace {

// Returns the colon-separated list without this directory, which an earlier call may have added.
std::string without(std::string_view list, std::string_view directory) {
  std::string rest;
  for (size_t at = 0; at < list.size();) {
    const size_t colon = std::min(list.find(':', at), list.size());
    const std::string_view entry = list.substr(at, colon - at);
    if (entry != directory) rest.append(rest.empty() ? "" : ":").append(entry);
    at = colon + 1;
  }
  return rest;
}

void print_variable(const char* name, const std::string& directory) {
  const char* const before = std::getenv(name);
  const std::string rest = without(before == nullptr ? "" : before, directory);
  fmt::print("export {}={}\n", name,
             shell_quoted(rest.empty() ? directory : directory + ":" + rest));
}

}  // namespace

// The libraries are in ../lib relative to the program in a build tree, and in the library directory
// of the prefix, which may have another name, in an installation.
Status run_env() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return io_error("read /proc/self/exe", error.value());
  const std::filesystem::path prefix = program.parent_path().parent_path();
  const std::filesystem::path libraries = prefix / MILLRACE_LIBRARY_DIR_NAME;
  const bool installed = std::filesystem::exists(libraries / "pkgconfig" / "vart-ml.pc");
  const std::filesystem::path directory = installed ? libraries : prefix / "lib";
  print_variable("PKG_CONFIG_PATH", (directory / "pkgconfig").string());
  print_variable("LD_LIBRARY_PATH", directory.string());
  print_variable("PATH", program.parent_path().string());
  return {};
}

}  // namespace millrace::cli
