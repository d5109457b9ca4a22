#include "tests/random_graphs/check_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <numeric>
#include <stdexcept>

#include "device/cpu/capabilities/capabilities.h"
#include "device/registry.h"
#include "lowering/finish.h"
#include "runtime/session.h"
#include "tests/device_cpu/run_model.h"
#include "tests/random_graphs/graph_maker.h"

namespace millrace::test {
namespace {

using device::Binding;
using device::Program;
using device::cpu::Tensor;
using Model = std::shared_ptr<const graph::CompiledModel>;

// The choices that a seed makes besides the nodes.
struct Setting {
  Numbers numbers = Numbers::kFp32;
  int64_t largest_dim = 18;
  uint32_t lanes = 1;
  bool is_compiled = false;  // with the compiler's passes
  bool has_partitions = false;
  device::View view = device::View::kHw;
};

Setting choose_setting(Random& random) {
  Setting setting;
  const int64_t kind = random.between(1, 100);
  setting.numbers = kind <= 45 ? Numbers::kFp32 : kind <= 70 ? Numbers::kBf16 : Numbers::kInt8;
  // Only work that takes long is divided among lanes.
  if (random.chance(2)) {
    setting.largest_dim = 72;
    setting.lanes = 2;
  }
  // Passes expect quantised integers only after Requantise; here other operators make them, too.
  setting.is_compiled = setting.numbers != Numbers::kInt8 && random.chance(40);
  setting.has_partitions = !setting.is_compiled && random.chance(30);
  if (random.chance(50)) setting.view = device::View::kCpu;
  return setting;
}

const Kind& choose_kind(Random& random) {
  const int64_t group = random.between(1, 100);
  const std::span<const Kind> kinds = group <= 42   ? movements()
                                      : group <= 62 ? functions()
                                      : group <= 92 ? products()
                                                    : integers();
  const auto add = [](int64_t sum, const Kind& kind) { return sum + kind.weight; };
  int64_t left = random.between(1, std::accumulate(kinds.begin(), kinds.end(), int64_t{0}, add));
  size_t at = 0;
  while (left > kinds[at].weight) left -= kinds[at++].weight;
  return kinds[at];
}

void add_inputs(GraphMaker& maker) {
  Random& random = maker.random();
  for (int64_t count = random.between(1, 2); count > 0; --count) {
    const int64_t kind = random.between(1, 100);
    const size_t rank = kind <= 5 ? 1 : kind <= 35 ? 2 : kind <= 55 ? 3 : 4;
    Dims dims;
    for (size_t i = 0; i < rank; ++i)
      dims.push_back(rank > 2 && i == 0 ? random.between(1, 3) : maker.new_dim());
    const ValueId id = maker.input(dims);
    if (maker.numbers() == Numbers::kInt8 && random.chance(70)) maker.quantise(id);
  }
}

// Assigns partitions of both kinds in turn, each with at least one node.
class Partitions {
 public:
  explicit Partitions(GraphMaker& maker) : maker_(maker) {}
  void begin_some() {
    const size_t nodes = maker_.graph().nodes.size();
    if (nodes == last_ || (last_ != kNone && !maker_.random().chance(30))) return;
    maker_.builder().begin_partition(kind_);
    kind_ = kind_ == graph::PartitionKind::kNpu ? graph::PartitionKind::kCpu
                                                : graph::PartitionKind::kNpu;
    last_ = nodes;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  GraphMaker& maker_;
  graph::PartitionKind kind_ = graph::PartitionKind::kNpu;
  size_t last_ = kNone;
};

bool make_nodes(GraphMaker& maker, const Setting& setting) {
  Partitions partitions(maker);
  if (setting.has_partitions) partitions.begin_some();
  add_inputs(maker);
  for (int64_t count = maker.random().between(2, 9); count > 0; --count) {
    if (setting.has_partitions) partitions.begin_some();
    choose_kind(maker.random()).add(maker);
  }
  return maker.finish();
}

Model compile(GraphMaker& maker, const Setting& setting) {
  const Model model = maker.builder().build();
  if (!setting.is_compiled) return model;
  auto compiled = lowering::finish(
      model->graph, {.capabilities = device::cpu::capabilities(), .precision = model->precision},
      "random");
  if (!compiled.ok()) throw std::runtime_error(compiled.status().to_string());
  return std::make_shared<graph::CompiledModel>(*std::move(compiled));
}

// Returns the inputs of the model, some of which the compiler may have dropped.
std::vector<Tensor> inputs_of(const graph::CompiledModel& model, const GraphMaker& maker) {
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < maker.inputs().size(); ++i)
    numbers[maker.graph().values[maker.graph().inputs[i]].name] = i;
  std::vector<Tensor> inputs;
  for (const graph::Boundary& input : model.inputs)
    inputs.push_back(maker.inputs()[numbers.at(input.cpu.name)]);
  return inputs;
}

std::shared_ptr<device::Device> two_lanes() {
  static const auto device = device::open_device("cpu", {.lanes = 2}).value();
  return device;
}

std::vector<runtime::TensorBinding> tensors(std::span<const Binding> bindings) {
  std::vector<runtime::TensorBinding> result;
  for (const Binding& binding : bindings)
    result.push_back({.data = binding.data, .view = binding.view, .owner = nullptr});
  return result;
}

std::vector<Tensor> run_on_two_lanes(const Model& model, const std::vector<Tensor>& inputs,
                                     device::View view) {
  const auto program = two_lanes()->load(model);
  if (!program.ok()) throw std::runtime_error(program.status().to_string());
  const auto session = runtime::Session::create(two_lanes(), *program, {}).value();
  return device::cpu::run(**program, inputs, view, [&](const auto& in, const auto& out) -> Status {
    const auto from = tensors(in), to = tensors(out);
    MILLRACE_ASSIGN_OR_RETURN(const auto job, session->submit({.inputs = from, .outputs = to}));
    return session->wait(job, std::chrono::minutes(5));
  });
}

std::vector<Tensor> run(const Model& model, const GraphMaker& maker, const Setting& setting) {
  const std::vector<Tensor> inputs = inputs_of(*model, maker);
  if (setting.lanes > 1) return run_on_two_lanes(model, inputs, setting.view);
  return device::cpu::run(*device::cpu::load(model), inputs, setting.view);
}

// In the worst case, kernels add this factor to the errors that the makers of nodes state.
constexpr float kMargin = 4;

// Returns the element that is furthest outside its bounds.
std::optional<std::string> compare(const GraphMaker& maker, ValueId id, const Tensor& actual) {
  const std::vector<float>& expected = maker.expected(id);
  if (actual.data.size() != expected.size())
    return fmt::format("{} elements instead of {}", actual.data.size(), expected.size());
  const float bound = kMargin * maker.error(id);
  std::optional<size_t> worst;
  for (size_t i = 0; i < expected.size(); ++i) {
    const float distance = std::fabs(actual.data[i] - expected[i]);
    // The condition is written so that a NaN is outside.
    if (distance <= bound) continue;
    if (!worst || distance > std::fabs(actual.data[*worst] - expected[*worst])) worst = i;
  }
  if (!worst) return std::nullopt;
  return fmt::format("element {} is {} instead of {}, {} may be between them", *worst,
                     actual.data[*worst], expected[*worst], bound);
}

std::string describe(const graph::Graph& graph, ValueId id) {
  if (id == graph::kNoValue) return "none";
  const graph::Value& value = graph.values[id];
  return fmt::format("{}[{}]{}", value.name, fmt::join(value.shape, ","),
                     value.quantisation ? " in steps" : "");
}

std::string describe(const graph::Graph& graph, std::span<const ValueId> ids) {
  std::string text;
  for (const ValueId id : ids)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", describe(graph, id));
  return text;
}

std::string describe(const graph::Graph& graph) {
  std::string text;
  for (const graph::Node& node : graph.nodes)
    text += fmt::format("  {} = {}({})\n", describe(graph, node.outputs), graph::name_of(node.op),
                        describe(graph, node.inputs));
  return text;
}

std::string describe(const Setting& setting) {
  constexpr const char* kNumbers[] = {"FP32", "BF16", "INT8"};
  return fmt::format("{}, {} lanes{}{}, {} view", kNumbers[static_cast<size_t>(setting.numbers)],
                     setting.lanes, setting.is_compiled ? ", compiled" : "",
                     setting.has_partitions ? ", in partitions" : "",
                     setting.view == device::View::kHw ? "HW" : "CPU");
}

std::string report(uint64_t seed, const Setting& setting, const GraphMaker& maker,
                   const std::string& what) {
  return fmt::format("seed {} ({}): {}\n{}again: scripts/random-graphs.sh 1 {}", seed,
                     describe(setting), what, describe(maker.graph()), seed);
}

std::optional<std::string> check(GraphMaker& maker, const Setting& setting) {
  if (!make_nodes(maker, setting)) return std::nullopt;
  const std::vector<Tensor> results = run(compile(maker, setting), maker, setting);
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueId id = maker.outputs()[i];
    if (const auto difference = compare(maker, id, results[i]))
      return maker.graph().values[id].name + ": " + *difference;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_graph(uint64_t seed) {
  Random random(seed);
  const Setting setting = choose_setting(random);
  GraphMaker maker(random, setting.numbers, setting.largest_dim);
  try {
    const auto wrong = check(maker, setting);
    if (!wrong) return std::nullopt;
    return report(seed, setting, maker, *wrong);
  } catch (const std::exception& error) {
    return report(seed, setting, maker, error.what());
  }
}

}  // namespace millrace::test
