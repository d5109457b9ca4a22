// A model is checked twice: with the sizes in the archive, and with those of the loaded program.
#include "runtime/loading/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/settings/environment.h"
#include "graph/network/network.h"
#include "memory/bank.h"
#include "runtime/dynamic/dynamic_program.h"

namespace millrace::runtime {
namespace {

constexpr uint64_t kTooMuch = UINT64_MAX;

// Saturating arithmetic, since sizes come from untrusted files and may overflow 64 bits.
uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? kTooMuch : result;
}
uint64_t product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? kTooMuch : result;
}

// The bytes of the inputs and outputs of one frame.
struct BoundaryBytes {
  uint64_t bound = 0;   // memory of the caller, in the larger view
  uint64_t staged = 0;  // staging memory of a lane that converts, in the smaller view
};

BoundaryBytes boundary_bytes(const graph::CompiledModel& model) {
  BoundaryBytes bytes;
  for (const auto* side : {&model.inputs, &model.outputs}) {
    for (const graph::Boundary& boundary : *side) {
      if (boundary.open) continue;  // its size is known only from a job
      const uint64_t cpu = boundary.cpu.bytes();
      const uint64_t hw = boundary.hw ? boundary.hw->bytes() : 0;
      bytes.bound = sum(bytes.bound, std::max(cpu, hw));
      bytes.staged = sum(bytes.staged, std::min(cpu, hw));
    }
  }
  return bytes;
}

uint64_t constant_bytes(const graph::CompiledModel& model) {
  uint64_t bytes = 0;
  for (const graph::Value& value : model.graph.values)
    if (value.constant) bytes = sum(bytes, value.bytes());
  if (model.network == nullptr) return bytes;
  for (const graph::Value& value : model.network->initializers) bytes = sum(bytes, value.bytes());
  return bytes;
}

struct Need {
  uint64_t weights = 0;
  uint64_t arena = 0;  // bytes of one lane
};

Status check(uint64_t limit, const Need& need, const graph::CompiledModel& model, uint32_t lanes) {
  const BoundaryBytes boundary = boundary_bytes(model);
  const uint64_t per_lane = sum(need.arena, boundary.staged);
  const uint64_t job = product(boundary.bound, model.batch_size);
  const uint64_t all = sum(sum(need.weights, product(per_lane, lanes)), job);
  if (all <= limit) return {};
  return {StatusCode::kOutOfMemory,
          fmt::format("the model needs {} bytes, the memory limit is {}: {} for weights, {} for "
                      "each of {} lanes, {} for the tensors of a job",
                      all, limit, need.weights, per_lane, lanes, job)};
}

Result<std::shared_ptr<const device::Program>> load(
    device::Device& device, std::shared_ptr<const graph::CompiledModel> model,
    std::shared_ptr<ranks::Communicator> communicator) {
  if (communicator == nullptr)
    return model->network == nullptr ? device.load(std::move(model))
                                     : load_dynamic(device, std::move(model));
  if (model->network == nullptr)
    return device.load_for_rank(std::move(model), std::move(communicator));
  return unsupported(
      "the model has dynamic shapes (open dimensions, or shapes that follow from elements): the "
      "ranks of a communicator run models with static shapes only");
}

}  // namespace

Result<uint64_t> memory_limit(uint64_t limit) {
  constexpr const char* kVariable = "MILLRACE_MEMORY_LIMIT";
  const std::string_view text = environment_variable(kVariable);
  if (text.empty()) return limit;
  const Result<uint64_t> own = memory::parse_size(text);
  if (!own.ok()) return own.status().with_context(kVariable);
  if (*own == memory::kUnlimited) return limit;
  return limit == 0 ? *own : std::min(limit, *own);
}

Result<std::shared_ptr<const device::Program>> load_within(
    uint64_t limit, device::Device& device, std::shared_ptr<const graph::CompiledModel> model,
    std::shared_ptr<ranks::Communicator> communicator) {
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t bytes, memory_limit(limit));
  if (bytes == 0) return load(device, std::move(model), std::move(communicator));
  const uint32_t lanes = std::max(1U, device.lanes().count());
  const Need declared = {.weights = constant_bytes(*model), .arena = model->arena_bytes};
  MILLRACE_RETURN_IF_ERROR(check(bytes, declared, *model, lanes));
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const device::Program> program,
                            load(device, model, std::move(communicator)));
  // Now the sizes of the device's own plan are known, from what its kernels need. No lane has
  // allocated an arena yet.
  const device::ProgramInfo info = program->info();
  const Need planned = {.weights = info.weight_bytes, .arena = info.context_bytes};
  MILLRACE_RETURN_IF_ERROR(check(bytes, planned, *model, lanes));
  return program;
}

}  // namespace millrace::runtime
