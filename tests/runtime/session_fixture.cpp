#include "tests/runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

TensorBinding allocate(const graph::Boundary& boundary, device::View view) {
  const size_t bytes =
      (view == device::View::kHw && boundary.hw ? *boundary.hw : boundary.cpu).bytes();
  auto memory = std::make_shared<std::vector<uint8_t>>(bytes);
  return {memory->data(), view, memory};
}

}  // namespace

JobMemory::JobMemory(const graph::CompiledModel& model, uint32_t frames, device::View view)
    : frames_(frames) {
  for (uint32_t frame = 0; frame < frames; ++frame) {
    inputs_.push_back(allocate(model.inputs[0], view));
    outputs_.push_back(allocate(model.outputs[0], view));
  }
}

GatedSession::~GatedSession() {
  test::let_everything_go(faults());
}

std::unique_ptr<Session> GatedSession::make_session(SessionOptions options,
                                                    test::TinyModelOptions model) {
  const std::shared_ptr<const device::Program> program =
      device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model(model))).value();
  return Session::create(device_, program, options).value();
}

}  // namespace millrace::runtime
