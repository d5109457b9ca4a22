// `millrace env`: prints shell commands that put this build's libraries, pkg-config files,
// programs, manual pages and Python package in front of the variables that name such folders.
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
// Entries that are empty remain.
std::string without(std::string_view list, std::string_view directory) {
  std::string rest;
  bool first = true;
  for (size_t at = 0; at <= list.size();) {
    const size_t colon = std::min(list.find(':', at), list.size());
    const std::string_view entry = list.substr(at, colon - at);
    if (entry != directory) {
      rest.append(first ? "" : ":").append(entry);
      first = false;
    }
    at = colon + 1;
  }
  return rest;
}

std::string list_without(const char* variable, const std::string& directory) {
  const char* const before = std::getenv(variable);
  return without(before == nullptr ? "" : before, directory);
}

void print_variable(const char* name, const std::string& value) {
  fmt::print("export {}={}\n", name, shell_quoted(value));
}

void print_with(const char* name, const std::string& directory) {
  const std::string rest = list_without(name, directory);
  print_variable(name, rest.empty() ? directory : directory + ":" + rest);
}

// An empty entry of MANPATH stands for the pages of the system, which are to be found as before.
void print_manual_path(const std::string& directory) {
  print_variable("MANPATH", directory + ":" + list_without("MANPATH", directory));
}

// Returns the folder of the manual pages, of a build tree or of an installation; empty if there is
// none.
std::filesystem::path pages_folder(const std::filesystem::path& prefix) {
  std::error_code error;
  for (const std::filesystem::path& folder : {prefix / "pages", prefix / "share" / "man"})
    if (exists(folder / "man1", error)) return folder;
  return {};
}

// Returns the folder of the package `millrace` for Python: that of a build tree, or that of an
// installation, whose name contains the version of Python; empty if there is none.
std::filesystem::path python_folder(const std::filesystem::path& prefix,
                                    const std::filesystem::path& libraries) {
  constexpr const char* kPackage = "millrace/__init__.py";
  std::error_code error;
  if (exists(prefix / "python" / kPackage, error)) return prefix / "python";
  for (const std::filesystem::path& folder : {prefix / "lib", libraries}) {
    for (const auto& below : std::filesystem::directory_iterator(folder, error)) {
      if (!below.path().filename().string().starts_with("python3")) continue;
      for (const char* packages : {"dist-packages", "site-packages"})
        if (exists(below.path() / packages / kPackage, error)) return below.path() / packages;
    }
  }
  return {};
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
  print_with("PKG_CONFIG_PATH", (directory / "pkgconfig").string());
  print_with("LD_LIBRARY_PATH", directory.string());
  print_with("PATH", program.parent_path().string());
  // The system finds its own pages and packages, and another Python must not use these.
  if (prefix == "/usr") return {};
  if (const auto pages = pages_folder(prefix); !pages.empty()) print_manual_path(pages.string());
  if (const auto packages = python_folder(prefix, libraries); !packages.empty())
    print_with("PYTHONPATH", packages.string());
  return {};
}

}  // namespace millrace::cli
