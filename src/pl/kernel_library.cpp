#include "pl/kernel_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

#include "base/cancellation.h"
#include "base/files/trusted_file.h"
#include "base/process/forked_child.h"
#include "base/settings/environment.h"
#include "pl/pass_through.h"

namespace millrace::pl {
namespace {

constexpr const char* kSymbol = "millrace_pl_kernels";
constexpr const char* kVariable = "MILLRACE_PL_KERNELS";

struct Libraries {
  std::mutex mutex;
  std::map<std::string, const millrace_pl_kernel_list*> by_path;  // opened once, never closed
};

Libraries& libraries() {
  // Never destroyed, since a kernel may be looked up while the process exits.
  static Libraries* made = new Libraries;
  return *made;
}

Status check(const millrace_pl_kernel& kernel, const std::string& path) {
  const auto wrong = [&](std::string_view what) {
    return unsupported(fmt::format("{}: a kernel {}", path, what));
  };
  if (kernel.name == nullptr || *kernel.name == '\0') return wrong("has no name");
  if (kernel.run == nullptr) return wrong("has no function to run");
  if (kernel.argument_count > 0 && kernel.arguments == nullptr) return wrong("has no arguments");
  for (const auto& argument : std::span(kernel.arguments, kernel.argument_count)) {
    if (argument.name == nullptr || argument.type == nullptr)
      return wrong("has an argument without a name or a type");
    if (argument.size == 0 || argument.size > sizeof(uint64_t))
      return wrong("has an argument whose size is not 1 to 8 bytes");
  }
  return {};
}

Result<const millrace_pl_kernel_list*> open_locked(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return unsupported(fmt::format("the kernel library cannot be loaded: {}",
                                   dlerror()));  // NOLINT(concurrency-mt-unsafe): locked
  const auto function = reinterpret_cast<decltype(&millrace_pl_kernels)>(dlsym(library, kSymbol));
  const millrace_pl_kernel_list* list = function == nullptr ? nullptr : function();
  if (list == nullptr || (list->count > 0 && list->kernels == nullptr))
    return unsupported(
        fmt::format("{} is not a kernel library: it has no valid {}", path, kSymbol));
  if (list->version != MILLRACE_PL_KERNELS_VERSION)
    return unsupported(
        fmt::format("{} was built for version {} of the kernel interface, but this is version {}",
                    path, list->version, MILLRACE_PL_KERNELS_VERSION));
  for (const millrace_pl_kernel& kernel : std::span(list->kernels, list->count))
    MILLRACE_RETURN_IF_ERROR(check(kernel, path));
  return list;
}

Result<const millrace_pl_kernel_list*> open_library(const std::string& path) {
  if (is_forked_child()) return forked_status();
  const CancellationOff whole;
  Libraries& all = libraries();
  const std::lock_guard lock(all.mutex);
  const millrace_pl_kernel_list*& list = all.by_path[path];
  if (list == nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(list, open_locked(path));
  }
  return list;
}

std::string without_compute_units(const std::string& name) {
  return name.substr(0, name.find(':'));
}

// Returns the kernels of the library that the program or the environment names; none without one.
Result<std::span<const millrace_pl_kernel>> kernels_of(const std::string& library) {
  const std::string path = library.empty() ? std::string(environment_variable(kVariable)) : library;
  if (path.empty()) return std::span<const millrace_pl_kernel>();
  // Only a path from the environment is checked: one that the program passes is its own decision.
  if (library.empty()) MILLRACE_RETURN_IF_ERROR(check_trusted_path(path).with_context(kVariable));
  MILLRACE_ASSIGN_OR_RETURN(const millrace_pl_kernel_list* list, open_library(path));
  return std::span(list->kernels, list->count);
}

}  // namespace

Result<std::vector<const millrace_pl_kernel*>> list_kernels(const std::string& library) {
  MILLRACE_ASSIGN_OR_RETURN(const std::span<const millrace_pl_kernel> own, kernels_of(library));
  std::vector<const millrace_pl_kernel*> kernels;
  for (const millrace_pl_kernel& kernel : own) kernels.push_back(&kernel);
  const bool is_replaced = std::ranges::any_of(own, [](const millrace_pl_kernel& kernel) {
    return std::string_view(kernel.name) == kPassThrough.name;
  });
  if (!is_replaced) kernels.push_back(&kPassThrough);
  return kernels;
}

Result<const millrace_pl_kernel*> find_kernel(const std::string& name, const std::string& library) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<const millrace_pl_kernel*> kernels,
                            list_kernels(library));
  const std::string wanted = without_compute_units(name);
  std::string known;
  for (const millrace_pl_kernel* kernel : kernels) {
    if (wanted == kernel->name) return kernel;
    known += fmt::format(" {}", kernel->name);
  }
  return Status(StatusCode::kNotFound,
                fmt::format("there is no software kernel \"{}\"; there are:{}. {} may name a "
                            "library with others",
                            wanted, known, kVariable));
}

}  // namespace millrace::pl
