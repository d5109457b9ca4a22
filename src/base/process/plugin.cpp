#include "base/process/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/settings/environment.h"

namespace millrace {
namespace {

// The directory of the library (or program) that this code is part of.
std::filesystem::path own_directory() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&own_directory), &info) == 0) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

}  // namespace

std::filesystem::path plugin_path(std::string_view name) {
  const std::string_view directory = environment_variable("MILLRACE_PLUGIN_DIR");
  const std::filesystem::path base = directory.empty() ? own_directory() : directory;
  return base / fmt::format("libmillrace-{}.so", name);
}

Result<void*> plugin_function(const std::filesystem::path& path, const char* function) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Status(StatusCode::kNotFound, fmt::format("there is no plugin {}", path.string()));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return unsupported(fmt::format("cannot be loaded: {}",
                                   dlerror()));  // NOLINT(concurrency-mt-unsafe): of this thread
  void* const found = dlsym(library, function);
  if (found == nullptr) return unsupported(fmt::format("has no {}", function));
  return found;
}

}  // namespace millrace
