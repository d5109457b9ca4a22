#include "bench/peers/ort/ort_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace millrace::bench {
namespace {

struct ApiBase {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version_string)();
};
// The requested API version: old enough for any recent library, and new enough to have every
// function of OrtFunction.
constexpr uint32_t kApiVersion = 17;

#if defined(__aarch64__)
constexpr const char* kPlatform = "/linux/arm64/libonnxruntime.so";
#else
constexpr const char* kPlatform = "/linux/x64/libonnxruntime.so";
#endif

Status not_found(std::string message) {
  return {StatusCode::kNotFound, std::move(message)};
}

Result<std::string> find_library() {
  MILLRACE_ASSIGN_OR_RETURN(const std::string peers, peers_folder());
  const std::string package = peers + "/node_modules/onnxruntime-node/bin";
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(package, error))
    if (entry.path().string().find(kPlatform) != std::string::npos) return entry.path().string();
  return not_found(fmt::format("there is no onnxruntime-node in {}", peers));
}

}  // namespace

Result<std::string> peers_folder() {
  const char* folder = std::getenv("MILLRACE_PEERS");
  if (folder == nullptr)
    return not_found(
        "MILLRACE_PEERS is not set to a folder with onnxruntime-node (docs/performance.md)");
  return std::string(folder);
}

Result<OrtLibrary> OrtLibrary::open() {
  MILLRACE_ASSIGN_OR_RETURN(const std::string path, find_library());
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return not_found(dlerror());
  const auto get_base = reinterpret_cast<const ApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) return not_found(path + " has no OrtGetApiBase");
  void* const* functions = get_base()->get_api(kApiVersion);
  if (functions == nullptr) return not_found(path + " is too old");
  return OrtLibrary(functions, get_base()->get_version_string());
}

void OrtLibrary::release(OrtFunction function, void* object) const {
  if (object != nullptr) reinterpret_cast<void (*)(void*)>(at(function))(object);
}

Status OrtLibrary::status_of(void* failure) const {
  if (failure == nullptr) return {};
  const auto message = reinterpret_cast<const char* (*)(void*)>(at(OrtFunction::kGetErrorMessage));
  Status status = internal_error(fmt::format("ONNX Runtime: {}", message(failure)));
  release(OrtFunction::kReleaseStatus, failure);
  return status;
}

}  // namespace millrace::bench
