#include "bench/peers/ort/ort_session.h"

#include <fmt/format.h>

namespace millrace::bench {
namespace {

using tensor::DataType;

// Values of enumerations of onnxruntime_c_api.h.
constexpr int kLogError = 3, kArenaAllocator = 1, kMemoryDefault = 0, kAllOptimisations = 99;

// Returns the value of the type in ONNXTensorElementDataType.
Result<int> element_type(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return 1;
    case DataType::kUint8:
      return 2;
    case DataType::kInt8:
      return 3;
    case DataType::kUint16:
      return 4;
    case DataType::kInt16:
      return 5;
    case DataType::kInt32:
      return 6;
    case DataType::kInt64:
      return 7;
    case DataType::kBoolean:
      return 9;
    case DataType::kFp16:
      return 10;
    case DataType::kFloat64:
      return 11;
    default:
      return Status(
          StatusCode::kUnsupported,
          fmt::format("tensors of type {} cannot be passed to ONNX Runtime", to_string(type)));
  }
}

}  // namespace

Result<std::unique_ptr<OrtSession>> OrtSession::create(const OrtLibrary& library,
                                                       const std::string& onnx, uint32_t threads,
                                                       const std::vector<OrtTensor>& inputs,
                                                       const std::vector<OrtTensor>& outputs) {
  std::unique_ptr<OrtSession> made(new OrtSession(library));
  MILLRACE_RETURN_IF_ERROR(made->create_session(onnx, threads));
  MILLRACE_RETURN_IF_ERROR(made->bind(inputs, made->inputs_));
  MILLRACE_RETURN_IF_ERROR(made->bind(outputs, made->outputs_));
  return made;
}

OrtSession::~OrtSession() {
  for (const Side* side : {&inputs_, &outputs_})
    for (void* value : side->values) library_.release(OrtFunction::kReleaseValue, value);
  library_.release(OrtFunction::kReleaseSession, session_);
  library_.release(OrtFunction::kReleaseMemoryInfo, memory_);
  library_.release(OrtFunction::kReleaseSessionOptions, options_);
  library_.release(OrtFunction::kReleaseEnv, environment_);
}

Status OrtSession::run() {
  const void* const no_run_options = nullptr;
  return library_.call(OrtFunction::kRun, session_, no_run_options, inputs_.c_names.data(),
                       inputs_.values.data(), inputs_.values.size(), outputs_.c_names.data(),
                       outputs_.values.size(), outputs_.values.data());
}

Status OrtSession::create_session(const std::string& onnx, uint32_t threads) {
  const int intra_op = static_cast<int>(threads);
  MILLRACE_RETURN_IF_ERROR(
      library_.call(OrtFunction::kCreateEnv, kLogError, "millrace", &environment_));
  MILLRACE_RETURN_IF_ERROR(library_.call(OrtFunction::kCreateSessionOptions, &options_));
  MILLRACE_RETURN_IF_ERROR(library_.call(OrtFunction::kSetIntraOpNumThreads, options_, intra_op));
  MILLRACE_RETURN_IF_ERROR(library_.call(OrtFunction::kSetInterOpNumThreads, options_, 1));
  MILLRACE_RETURN_IF_ERROR(
      library_.call(OrtFunction::kSetSessionGraphOptimizationLevel, options_, kAllOptimisations));
  MILLRACE_RETURN_IF_ERROR(library_.call(OrtFunction::kCreateSessionFromArray, environment_,
                                         onnx.data(), onnx.size(), options_, &session_));
  return library_.call(OrtFunction::kCreateCpuMemoryInfo, kArenaAllocator, kMemoryDefault,
                       &memory_);
}

Status OrtSession::bind(const std::vector<OrtTensor>& tensors, Side& side) {
  for (const OrtTensor& tensor : tensors) {
    const std::vector<int64_t> shape(tensor.desc->shape.begin(), tensor.desc->shape.end());
    MILLRACE_ASSIGN_OR_RETURN(const int type, element_type(tensor.desc->type));
    void* value = nullptr;
    MILLRACE_RETURN_IF_ERROR(library_.call(OrtFunction::kCreateTensorWithDataAsOrtValue, memory_,
                                           tensor.data, tensor.desc->bytes(), shape.data(),
                                           shape.size(), type, &value));
    side.names.push_back(tensor.desc->name);
    side.values.push_back(value);
  }
  for (const std::string& name : side.names) side.c_names.push_back(name.c_str());
  return {};
}

}  // namespace millrace::bench
