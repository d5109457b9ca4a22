// An archive that loads runs on the devices `null` and `cpu`, in both views, whatever its inputs
// are: the job ends, and says why where it fails.
#include <array>
#include <memory>
#include <random>

#include "device/registry.h"
#include "graph/archive/codec.h"
#include "tests/e2e/pipeline.h"
#include "tests/fuzz/small_model.h"
#include "tests/fuzz/target.h"

namespace millrace::fuzz {
namespace {

using Model = std::shared_ptr<const graph::CompiledModel>;

// Kept, so that its lanes are made once.
const std::shared_ptr<device::Device>& device_of(size_t index) {
  static const std::array devices = {device::open_device("null", {.lanes = 1}).value(),
                                     device::open_device("cpu", {.lanes = 1}).value()};
  return devices[index];
}

// The same for the same model: indices and booleans that are none among them.
test::FrameBytes some_inputs(const graph::CompiledModel& model, device::View view) {
  std::minstd_rand random(static_cast<unsigned>(model.graph.values.size()));
  test::FrameBytes frames(1);
  for (const graph::Boundary& input : model.inputs) {
    const bool hw = view == device::View::kHw && input.hw;
    auto& bytes = frames[0].emplace_back((hw ? *input.hw : input.cpu).bytes());
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }
  return frames;
}

void run(size_t device, const Model& model) {
  auto program = device_of(device)->load(model);
  if (!program.ok())
    return expect_refusal(program.status(),
                          {StatusCode::kUnsupported, StatusCode::kInvalidArgument});
  const auto session = runtime::Session::create(device_of(device), *program);
  expect(session.ok(), "a session", session.status().to_string());
  for (const auto view : {device::View::kCpu, device::View::kHw}) {
    const auto outputs = test::run_async(**session, some_inputs(*model, view), view);
    if (!outputs.ok())
      expect_refusal(outputs.status(), {StatusCode::kInvalidArgument, StatusCode::kUnsupported});
  }
}

}  // namespace

void fuzz_one(Input input) {
  const auto owner = std::make_shared<std::vector<std::byte>>(input.begin(), input.end());
  const auto archive = model::Archive::from_memory(*owner, owner);
  if (!archive.ok()) return;
  auto decoded = graph::decode(*archive);
  if (!decoded.ok() || !is_small(*decoded)) return;
  const auto model = std::make_shared<const graph::CompiledModel>(*std::move(decoded));
  for (const size_t device : {0, 1}) run(device, model);
}

}  // namespace millrace::fuzz
