#include "cli/nrt_findings.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <strings.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "nrt/nrt.h"
#include "nrt/nrt_version.h"

namespace millrace::cli {
namespace {

// Returns a function of the library, or null if it has none of this name.
template <class Function>
Function* call_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string path_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fname : "libnrt.so.1";
}

// Opens the library that programs would find or, if there is none, the one beside libmillrace.so.
void* open_library() {
  if (void* const found = dlopen("libnrt.so.1", RTLD_NOW | RTLD_LOCAL)) return found;
  const std::filesystem::path core = path_of(reinterpret_cast<const void*>(&set_log_sink));
  return dlopen((core.parent_path() / "libnrt.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Hides a request for a system profile from nrt_init while it exists: nrt_init would write the
// profile to a file. Invalid values of the variable stay, since nrt_init reports what is wrong.
class WithoutSystemProfile {
 public:
  WithoutSystemProfile() : value_(value_of_environment()) {
    if (is_on()) ::setenv(kVariable, "0", 1);
  }
  ~WithoutSystemProfile() {
    if (is_on()) ::setenv(kVariable, value_.c_str(), 1);
  }
  WithoutSystemProfile(const WithoutSystemProfile&) = delete;
  WithoutSystemProfile& operator=(const WithoutSystemProfile&) = delete;

 private:
  static constexpr const char* kVariable = "NEURON_RT_INSPECT_ENABLE";

  static std::string value_of_environment() {
    const char* const value = std::getenv(kVariable);
    return value == nullptr ? "" : value;
  }
  bool is_on() const noexcept { return value_ == "1" || ::strcasecmp(value_.c_str(), "true") == 0; }

  const std::string value_;
};

// Starts and closes the runtime with the environment of this process. Adds the lines that it logs
// to `log`. If it fails, the message is the last of them.
Status try_start(void* library, std::vector<std::string>& log) {
  auto* const init = call_of<decltype(nrt_init)>(library, "nrt_init");
  auto* const close = call_of<decltype(nrt_close)>(library, "nrt_close");
  if (init == nullptr || close == nullptr) return unsupported("libnrt.so.1 has no nrt_init");
  set_log_sink([&](LogLevel, std::string_view, std::string_view line) { log.emplace_back(line); },
               LogLevel::kInfo);
  const WithoutSystemProfile writes_no_file;
  const NRT_STATUS status = init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  set_log_sink({});
  if (status != NRT_SUCCESS)
    return invalid_argument(log.empty() ? fmt::format("nrt_init: {}", static_cast<int>(status))
                                        : log.back());
  close();
  return {};
}

}  // namespace

NrtFindings look_at_nrt() {
  NrtFindings found;
  void* const library = open_library();
  if (library == nullptr) {
    found.library =
        fmt::format("not found: {}", dlerror());  // NOLINT(concurrency-mt-unsafe): one thread
    return found;
  }
  auto* const version_of = call_of<decltype(nrt_get_version)>(library, "nrt_get_version");
  nrt_version_t version{};
  if (version_of == nullptr || version_of(&version, sizeof version) != NRT_SUCCESS) {
    found.library = "found, but it does not report its version";
    return found;
  }
  const std::string_view detail = version.rt_detail;
  found.library = fmt::format("{}.{}, {}, {}", version.rt_major, version.rt_minor, detail,
                              path_of(reinterpret_cast<const void*>(version_of)));
  if (detail.starts_with("Millrace")) found.started = try_start(library, found.log);
  return found;
}

}  // namespace millrace::cli
