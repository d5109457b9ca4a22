#include "bench/queue/onnx_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "source_dir.h"
#include "tests/support/temporary_directory.h"

namespace millrace::bench {

Result<std::unique_ptr<OnnxRuntime>> OnnxRuntime::open() {
  const graph::CompiledModel model = one_node_model();
  MILLRACE_ASSIGN_OR_RETURN(const OrtLibrary library, OrtLibrary::open());
  std::unique_ptr<OnnxRuntime> opened(new OnnxRuntime);
  MILLRACE_ASSIGN_OR_RETURN(opened->session_,
                            OrtSession::create(library, one_node_onnx(), 1,
                                               {{&model.inputs[0].cpu, opened->x_data_.data()}},
                                               {{&model.outputs[0].cpu, opened->y_data_.data()}}));
  MILLRACE_RETURN_IF_ERROR(opened->check());
  return opened;
}

Status OnnxRuntime::check() {
  for (uint32_t i = 0; i < kOneNodeElements; ++i) x_data_[i] = static_cast<float>(i) - 8;
  MILLRACE_RETURN_IF_ERROR(run());
  for (uint32_t i = 0; i < kOneNodeElements; ++i)
    if (y_data_[i] != std::max(x_data_[i], 0.0f))
      return internal_error("the result is not Relu of the input");
  return {};
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
  if (pipe == nullptr) return Status(StatusCode::kNotFound, "cannot start a process for Node.js");
  char line[256] = {};
  const bool any = std::fgets(line, sizeof(line), pipe) != nullptr;
  ::pclose(pipe);
  const auto json = nlohmann::json::parse(any ? line : "", nullptr, false);
  if (!json.contains("median"))
    return Status(
        StatusCode::kNotFound,
        fmt::format("Node.js is not installed, or there is no onnxruntime-node in {}", peers));
  return json["median"].get<double>() * 1e-3;
}

}  // namespace millrace::bench
