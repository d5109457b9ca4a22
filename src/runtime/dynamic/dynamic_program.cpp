// A job of a dynamic program is one NetworkRun of the model's network. Inputs are used where the
// caller has bound them; outputs are computed directly into the caller's memory where they fit, and
// copied there otherwise.
#include "runtime/dynamic/dynamic_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/contained.h"
#include "base/settings/environment.h"
#include "graph/shape.h"
#include "runtime/dynamic/network_run.h"

namespace millrace::runtime {
namespace {

using device::Binding;
using device::Direction;
using device::View;

constexpr uint64_t kDefaultPlans = 32;
constexpr uint64_t kMostPlans = 65'536;

class DynamicProgram final : public device::Program,
                             public std::enable_shared_from_this<DynamicProgram> {
 public:
  DynamicProgram(device::Device& device, std::shared_ptr<const graph::CompiledModel> model,
                 size_t plans)
      : model_(std::move(model)), device_name_(device.name()), plans_(device, *model_, plans) {}

  const graph::CompiledModel& model() const noexcept override { return *model_; }
  bool accepts(Direction, size_t, View view) const noexcept override { return view == View::kCpu; }
  Result<std::unique_ptr<device::Context>> create_context() const override;
  device::ProgramInfo info() const override {
    return {device_name_, model_->precision, "", {}, 0, 0};
  }

  // Makes the first plan if the shapes of all inputs are fixed.
  Status prepare();
  PlanCache& plans() const noexcept { return plans_; }

 private:
  const std::shared_ptr<const graph::CompiledModel> model_;
  const std::string device_name_;
  mutable PlanCache plans_;  // thread-safe
};

graph::Dims dims_of(std::span<const uint32_t> shape) {
  return {shape.begin(), shape.end()};
}

graph::Dims bound_shape(const graph::Boundary& boundary, const Binding& binding) {
  if (!boundary.open) return dims_of(boundary.cpu.shape);
  return dims_of(std::span(binding.shape->dims).first(binding.shape->rank));
}

class DynamicContext final : public device::Context {
 public:
  explicit DynamicContext(std::shared_ptr<const DynamicProgram> program)
      : program_(std::move(program)),
        lane_{program_->plans(), StageContexts(program_->plans().capacity())} {}

  Status run(std::span<const Binding> inputs, std::span<const Binding> outputs,
             queue::RunControl& control) noexcept override {
    return contained([&] { return run_network(inputs, outputs, control); });
  }

 private:
  Status run_network(std::span<const Binding> inputs, std::span<const Binding> outputs,
                     queue::RunControl& control);

  const std::shared_ptr<const DynamicProgram> program_;
  LaneResources lane_;
};

size_t memory_of(const graph::Boundary& boundary, const Binding& binding) {
  return boundary.open ? binding.bytes : boundary.cpu.bytes();
}

// Returns whether a TensorShape can hold this shape.
bool can_be_stated(const graph::Dims& shape) {
  return shape.size() <= TensorShape::kMaxRank &&
         std::ranges::all_of(shape, [](int64_t dim) { return dim < kOpenDimension; });
}

// Returns whether type and shape of the value are those of the archive, except for dimensions that
// the archive leaves open.
bool is_as_declared(const graph::Boundary& boundary, const RunValue& value) {
  if (value.type != boundary.cpu.type) return false;
  const std::vector<uint32_t>& declared = boundary.cpu.shape;
  if (boundary.open && declared.empty()) return can_be_stated(value.shape);
  const auto fits = [](uint32_t stated, int64_t dim) {
    return stated == kOpenDimension || static_cast<int64_t>(stated) == dim;
  };
  return can_be_stated(value.shape) && std::ranges::equal(declared, value.shape, fits);
}

// Checks the shape of an output and, if it is open, writes it to the caller's TensorShape.
Status state_shape(const graph::Boundary& boundary, const RunValue& value, const Binding& binding) {
  if (!is_as_declared(boundary, value))
    return invalid_argument(fmt::format("output \"{}\" is {} {}, which the archive does not allow",
                                        boundary.cpu.name, tensor::to_string(value.type),
                                        graph::to_string(value.shape)));
  if (!boundary.open) return {};
  binding.shape->rank = static_cast<uint32_t>(value.shape.size());
  std::ranges::transform(value.shape, binding.shape->dims.begin(),
                         [](int64_t dim) { return static_cast<uint32_t>(dim); });
  return {};
}

// Copies an output to the caller's memory, unless it was computed there.
Status deliver(const graph::Boundary& boundary, const RunValue& value, const Binding& binding) {
  if (value.data == binding.data) return {};
  if (value.bytes() > memory_of(boundary, binding))
    return invalid_argument(fmt::format("output \"{}\" {} takes {} bytes, the memory has {}",
                                        boundary.cpu.name, graph::to_string(value.shape),
                                        value.bytes(), memory_of(boundary, binding)));
  std::copy_n(value.data, value.bytes(), static_cast<std::byte*>(binding.data));
  return {};
}

Status DynamicContext::run_network(std::span<const Binding> inputs,
                                   std::span<const Binding> outputs, queue::RunControl& control) {
  const graph::CompiledModel& model = program_->model();
  NetworkRun run(lane_, *model.network, nullptr, control);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Boundary& boundary = model.inputs[i];
    run.set(boundary.cpu.name, {boundary.cpu.type, bound_shape(boundary, inputs[i]),
                                static_cast<std::byte*>(inputs[i].data), nullptr, Lasts::kRun});
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    run.place(model.outputs[i].cpu.name,
              {static_cast<std::byte*>(outputs[i].data), memory_of(model.outputs[i], outputs[i])});
  control.begin_partition(0);
  MILLRACE_RETURN_IF_ERROR(run.run());
  std::vector<RunValue> values;
  for (const graph::Boundary& boundary : model.outputs) {
    MILLRACE_ASSIGN_OR_RETURN(values.emplace_back(), run.value(boundary.cpu.name));
  }
  for (size_t i = 0; i < values.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(state_shape(model.outputs[i], values[i], outputs[i]));
  for (size_t i = 0; i < values.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(deliver(model.outputs[i], values[i], outputs[i]));
  return {};
}

Result<std::unique_ptr<device::Context>> DynamicProgram::create_context() const {
  return contained([&]() -> Result<std::unique_ptr<device::Context>> {
    return std::unique_ptr<device::Context>(new DynamicContext(shared_from_this()));
  });
}

Status DynamicProgram::prepare() {
  if (std::ranges::any_of(model_->inputs, &graph::Boundary::open)) return {};
  std::vector<lowering::Known> known;
  for (const std::string& name : PlanCache::names_needed(*model_->network, nullptr)) {
    const auto input = std::ranges::find(model_->inputs, name, [](const auto& boundary) {
      return std::string_view(boundary.cpu.name);
    });
    if (input == model_->inputs.end())
      return corrupt_data(
          fmt::format("the network has an input '{}' that is not among the model's inputs", name));
    known.push_back({name, input->cpu.type, dims_of(input->cpu.shape)});
  }
  return plans_.find_or_make(*model_->network, nullptr, known).status();
}

}  // namespace

Result<std::shared_ptr<const device::Program>> load_dynamic(
    device::Device& device, std::shared_ptr<const graph::CompiledModel> model) {
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t plans,
                            number_variable("MILLRACE_PLANS", kDefaultPlans, 1, kMostPlans));
  auto program = std::make_shared<DynamicProgram>(device, std::move(model), plans);
  MILLRACE_RETURN_IF_ERROR(program->prepare());
  return std::shared_ptr<const device::Program>(std::move(program));
}

PlanCounters plan_counters(const device::Program& program) {
  const auto* dynamic = dynamic_cast<const DynamicProgram*>(&program);
  return dynamic == nullptr ? PlanCounters() : dynamic->plans().counters();
}

}  // namespace millrace::runtime
