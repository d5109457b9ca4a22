#include "bench/queue/onnx_runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/temporary_directory.h"

namespace millrace::bench {
namespace {

// Indices in the table of functions, OrtApi of onnxruntime_c_api.h.
enum Function : size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kCreateTensorWithDataAsOrtValue = 49,
  kCreateCpuMemoryInfo = 69,
  kReleaseEnv = 92,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseSessionOptions = 100,
};
// Values of its enumerations.
constexpr int kLogWarning = 2, kArenaAllocator = 1, kMemoryDefault = 0, kElementFloat = 1;

struct ApiBase {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version_string)();
};
// Old enough for any library of recent years, new enough to have every function above.
constexpr uint32_t kApiVersion = 17;

#if defined(__aarch64__)
constexpr const char* kPlatform = "/linux/arm64/libonnxruntime.so";
#else
constexpr const char* kPlatform = "/linux/x64/libonnxruntime.so";
#endif

Status not_found(std::string message) {
  return {StatusCode::kNotFound, std::move(message)};
}

Result<std::string> peers_folder() {
  const char* folder = std::getenv("MILLRACE_PEERS");
  if (folder == nullptr)
    return not_found("MILLRACE_PEERS names no folder with onnxruntime-node (docs/performance.md)");
  return std::string(folder);
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

Result<std::unique_ptr<OnnxRuntime>> OnnxRuntime::open() {
  MILLRACE_ASSIGN_OR_RETURN(const std::string library, find_library());
  std::unique_ptr<OnnxRuntime> opened(new OnnxRuntime);
  MILLRACE_RETURN_IF_ERROR(opened->load(library));
  MILLRACE_RETURN_IF_ERROR(opened->create_session());
  MILLRACE_RETURN_IF_ERROR(opened->check());
  return opened;
}

OnnxRuntime::~OnnxRuntime() {
  release(kReleaseValue, x_);
  release(kReleaseValue, y_);
  release(kReleaseSession, session_);
  release(kReleaseMemoryInfo, memory_);
  release(kReleaseSessionOptions, options_);
  release(kReleaseEnv, environment_);
}

Status OnnxRuntime::run() {
  constexpr const char* kInputs[] = {kOneNodeInput};
  constexpr const char* kOutputs[] = {kOneNodeOutput};
  const void* inputs[] = {x_};
  void* outputs[] = {y_};
  const void* const no_run_options = nullptr;
  return call(kRun, session_, no_run_options, &kInputs[0], &inputs[0], size_t{1}, &kOutputs[0],
              size_t{1}, &outputs[0]);
}

// The library stays loaded: it keeps threads and state of its own.
Status OnnxRuntime::load(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return not_found(dlerror());
  const auto get_base = reinterpret_cast<const ApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) return not_found(library + " has no OrtGetApiBase");
  functions_ = get_base()->get_api(kApiVersion);
  return functions_ != nullptr ? Status() : not_found(library + " is too old");
}

Status OnnxRuntime::create_session() {
  const std::string model = one_node_onnx();
  MILLRACE_RETURN_IF_ERROR(call(kCreateEnv, kLogWarning, "bench", &environment_));
  MILLRACE_RETURN_IF_ERROR(call(kCreateSessionOptions, &options_));
  MILLRACE_RETURN_IF_ERROR(call(kSetIntraOpNumThreads, options_, 1));
  MILLRACE_RETURN_IF_ERROR(
      call(kCreateSessionFromArray, environment_, model.data(), model.size(), options_, &session_));
  MILLRACE_RETURN_IF_ERROR(call(kCreateCpuMemoryInfo, kArenaAllocator, kMemoryDefault, &memory_));
  MILLRACE_RETURN_IF_ERROR(bind(x_data_, x_));
  return bind(y_data_, y_);
}

Status OnnxRuntime::bind(std::array<float, kOneNodeElements>& data, void*& value) {
  constexpr int64_t kShape[] = {1, kOneNodeElements};
  return call(kCreateTensorWithDataAsOrtValue, memory_, data.data(), sizeof(data), &kShape[0],
              size_t{2}, kElementFloat, &value);
}

Status OnnxRuntime::check() {
  for (uint32_t i = 0; i < kOneNodeElements; ++i) x_data_[i] = static_cast<float>(i) - 8;
  MILLRACE_RETURN_IF_ERROR(run());
  for (uint32_t i = 0; i < kOneNodeElements; ++i)
    if (y_data_[i] != std::max(x_data_[i], 0.0f))
      return internal_error("the result is not Relu of the input");
  return {};
}

// The arguments must have the very types of the C function's parameters, up to pointers.
template <class... Arguments>
Status OnnxRuntime::call(size_t index, Arguments... arguments) {
  const auto function = reinterpret_cast<void* (*)(Arguments...)>(functions_[index]);
  void* failure = function(arguments...);
  if (failure == nullptr) return {};
  const auto message = reinterpret_cast<const char* (*)(void*)>(functions_[kGetErrorMessage]);
  Status status = internal_error(fmt::format("ONNX Runtime: {}", message(failure)));
  release(kReleaseStatus, failure);
  return status;
}

void OnnxRuntime::release(size_t index, void* object) {
  if (object != nullptr) reinterpret_cast<void (*)(void*)>(functions_[index])(object);
}

Result<double> onnx_runtime_node_seconds() {
  constexpr int kRuns = 20'000;
  MILLRACE_ASSIGN_OR_RETURN(const std::string peers, peers_folder());
  const test::TemporaryDirectory directory;
  const std::string model = directory.file("one_node.onnx");
  std::ofstream(model, std::ios::binary) << one_node_onnx();
  const std::string command =
      fmt::format("cd '{}' && node '{}/bench/peers/ort_latency.mjs' '{}' {} 2>/dev/null", peers,
                  MILLRACE_SOURCE_DIR, model, kRuns);
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return not_found("no process for node can be started");
  char line[256] = {};
  const bool any = std::fgets(line, sizeof(line), pipe) != nullptr;
  ::pclose(pipe);
  const auto json = nlohmann::json::parse(any ? line : "", nullptr, false);
  if (!json.contains("median"))
    return not_found(fmt::format("there is no node, or no onnxruntime-node in {}", peers));
  return json["median"].get<double>() * 1e-3;
}

}  // namespace millrace::bench
