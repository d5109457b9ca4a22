#include "tests/e2e/pipeline.h"

#include "device/registry.h"
#include "graph/archive/codec.h"
#include "model/archive.h"
#include "model/archive_writer.h"

namespace millrace::test {

Result<std::vector<std::byte>> compile_to_archive(const std::string& onnx_path,
                                                  const compiler::CompileOptions& options) {
  MILLRACE_ASSIGN_OR_RETURN(const graph::CompiledModel model,
                            compiler::compile(onnx_path, options));
  return model::archive_bytes(graph::encode(model));
}

Result<std::unique_ptr<runtime::Session>> open_session(std::vector<std::byte> archive,
                                                       const std::string& device_name) {
  const auto owner = std::make_shared<std::vector<std::byte>>(std::move(archive));
  MILLRACE_ASSIGN_OR_RETURN(auto opened, model::Archive::from_memory(*owner, owner));
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel model, graph::decode(std::move(opened)));
  MILLRACE_ASSIGN_OR_RETURN(auto device, device::open_device(device_name));
  MILLRACE_ASSIGN_OR_RETURN(
      auto program, device->load(std::make_shared<const graph::CompiledModel>(std::move(model))));
  return runtime::Session::create(std::move(device), std::move(program));
}

Result<FrameBytes> run_async(runtime::Session& session, const FrameBytes& inputs,
                             device::View view) {
  FrameBytes bound = inputs;
  FrameBytes outputs;
  std::vector<runtime::TensorBinding> input_bindings, output_bindings;
  for (auto& frame : bound) {
    for (auto& bytes : frame) input_bindings.push_back({bytes.data(), view, nullptr});
    outputs.emplace_back();
    for (const graph::Boundary& boundary : session.model().outputs) {
      const bool hw = view == device::View::kHw && boundary.hw;
      outputs.back().emplace_back((hw ? *boundary.hw : boundary.cpu).bytes());
    }
  }
  for (auto& frame : outputs)
    for (auto& bytes : frame) output_bindings.push_back({bytes.data(), view, nullptr});
  const auto frames = static_cast<uint32_t>(inputs.size());
  MILLRACE_ASSIGN_OR_RETURN(const runtime::SessionJobId id,
                            session.submit({frames, input_bindings, output_bindings}));
  MILLRACE_RETURN_IF_ERROR(session.wait(id, std::chrono::minutes(5)));
  return outputs;
}

}  // namespace millrace::test
