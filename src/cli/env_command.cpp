#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"

namespace millrace::cli {
namespace {

void print_variable(const char* name, const std::string& directory) {
  const char* before = std::getenv(name);
  const bool more = before != nullptr && *before != '\0';
  fmt::print("export {}='{}{}{}'\n", name, directory, more ? ":" : "", more ? before : "");
}

}  // namespace

// The libraries lie in ../lib of the program, in a build tree and (mostly) in an installation.
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
