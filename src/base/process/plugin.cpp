#include "base/process/plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <string>

#include "base/files/trusted_file.h"
#include "base/settings/environment.h"
#include "base/unique_fd.h"

namespace millrace {
namespace {

constexpr const char* kDirectory = "MILLRACE_PLUGIN_DIR";

// Returns the path of the library (or program) that contains this code.
std::filesystem::path own_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&own_library), &info) == 0) return {};
  return info.dli_fname;
}

// Checks that the plugin is trusted. A plugin beside this library need not be if this library
// itself is not: an attacker who could replace this library, which already runs, gains nothing by
// replacing the plugin. So builds work in directories that belong to another user, as in
// containers, or that everybody may write to, as on file systems without permissions.
Status check_plugin(const std::filesystem::path& path) {
  const Status trusted = check_trusted_path(path);
  const bool beside = path.parent_path() == own_library().parent_path();
  return beside && !check_trusted_path(own_library()).ok() ? Status() : trusted;
}

// Returns the errno of opening a file, which dlopen() does not report; 0 if it can be opened.
int opening_error(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? 0 : errno;
}

// Returns the status for a failure of dlopen(). A lack of memory or descriptors has codes of its
// own, since it may be temporary.
Status cannot_load(const std::filesystem::path& path, const char* why) {
  const std::string text = fmt::format("cannot be loaded: {}", why);
  const int error = opening_error(path);
  if (error == ENOMEM) return {StatusCode::kOutOfMemory, text};
  if (error == EMFILE || error == ENFILE) return {StatusCode::kResourceExhausted, text};
  return unsupported(text);
}

}  // namespace

std::filesystem::path plugin_path(std::string_view name) {
  const std::string file = fmt::format("libmillrace-{}.so", name);
  std::filesystem::path beside = own_library().parent_path() / file;
  const std::string_view directory = environment_variable(kDirectory);
  if (directory.empty()) return beside;
  const std::filesystem::path named = std::filesystem::path(directory) / file;
  std::error_code ignored;  // a file that cannot be seen is not there
  const bool only_beside =
      !std::filesystem::exists(named, ignored) && std::filesystem::exists(beside, ignored);
  return only_beside ? beside : named;
}

Result<void*> plugin_function(const std::filesystem::path& path, const char* function) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Status(StatusCode::kNotFound, fmt::format("there is no plugin {}", path.string()));
  if (const Status trusted = check_plugin(path); !trusted.ok())
    return unsupported("is not loaded: " + trusted.message());
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return cannot_load(path, dlerror());  // NOLINT(concurrency-mt-unsafe): per thread in glibc
  void* const found = dlsym(library, function);
  if (found == nullptr) return unsupported(fmt::format("has no {}", function));
  return found;
}

}  // namespace millrace
