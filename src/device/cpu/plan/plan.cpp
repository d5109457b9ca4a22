// The rule, the search with measured times, and the file of times. A plan by times starts from the
// forms of the rule and replaces those of all convolutions that have candidates by the cheapest
// ones together (cheapest.h).
#include "device/cpu/plan/plan.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/process/topology.h"
#include "base/settings/environment.h"
#include "device/cpu/dnnl/calls.h"
#include "device/cpu/kernels/convolution/implementation.h"
#include "device/cpu/kernels/separable/pairs.h"
#include "device/cpu/plan/network.h"
#include "model/files/temporary_output.h"

namespace millrace::device::cpu::plan {
namespace {

constexpr const char* kRecord = "MILLRACE_TUNING";
constexpr const char* kMeasure = "MILLRACE_TUNE";

// Whether the convolution is between many channels of an image so small that oneDNN's kernels on
// blocks run short of elements. One that would have a larger image reordered, for a single product
// with each element, is not.
bool is_narrow(const kernels::Convolution& convolution) {
  constexpr int64_t kManyChannels = 128, kFewElements = 64;
  const auto elements = [](const Dims& dims) { return dims[2] * dims[3]; };
  const Dims &x = convolution.x, &y = convolution.y;
  if (x.size() != 4 || !topology().features.avx512) return false;
  const bool has_taps = convolution.weight.size() == 4 && elements(convolution.weight) > 1;
  return convolution.op->group == 1 && x[1] >= kManyChannels && y[1] >= kManyChannels &&
         elements(y) <= kFewElements && (has_taps || elements(x) <= kFewElements);
}

Form usual_form_of(const graph::Graph& graph, const graph::Node& node, ElementType type) {
  const auto* const op = std::get_if<graph::Conv>(&node.op);
  if (op == nullptr) return usual_form(type);
  const kernels::Convolution convolution(graph, node, *op, type);
  for (const kernels::Implementation& each : kernels::convolution_implementations())
    if (each.planned && each.planned->is_worthwhile != nullptr &&
        each.planned->is_worthwhile(convolution))
      return each.planned->form;
  if (type == ElementType::f32 && is_narrow(convolution)) return Form::kChannelsLast;
  return usual_form(type);
}

// Returns the type that the node computes in, in a model of `type`.
ElementType type_of(const graph::Node& node, const graph::Partition& partition, ElementType type) {
  if (partition.kind != graph::PartitionKind::kNpu) return ElementType::f32;
  if (!node.precision) return type;
  return *node.precision == graph::Precision::kBf16 ? ElementType::bf16 : ElementType::f32;
}

void join_separable(const graph::CompiledModel& model, ElementType type, std::vector<Form>& forms) {
  const auto readers = graph::consumers_of(model.graph);
  for (const graph::Partition& partition : model.partitions)
    for (uint32_t i = partition.first; i < partition.first + partition.count; ++i) {
      const graph::Node& node = model.graph.nodes[i];
      const ElementType own = type_of(node, partition, type);
      const auto partner = kernels::separable::partner_of(model, own, readers, partition, i);
      if (partner && kernels::separable::is_worthwhile(model.graph, own, node))
        forms[i] = forms[*partner] = Form::kSeparable;
    }
}

// Returns the forms of the rule, by node.
std::vector<Form> usual_forms(const graph::CompiledModel& model, ElementType type) {
  std::vector<Form> forms;
  for (const graph::Node& node : model.graph.nodes)
    forms.push_back(usual_form_of(model.graph, node, type));
  join_separable(model, type, forms);
  return forms;
}

std::string time_of(const Candidate& candidate) {
  return fmt::format("{:.1f} us", static_cast<double>(candidate.nanoseconds) * 1e-3);
}

// Returns the candidates with their times. The second convolution of a pair has no time of its own
// in the step of both: `ends_step` leaves that candidate out.
std::string times_of(const std::vector<Candidate>& candidates, bool ends_step) {
  std::string text;
  for (const Candidate& each : candidates) {
    const bool is_for_two = each.form == Form::kSeparable;
    if (is_for_two && ends_step) continue;
    text += fmt::format("{}{} {}{} ({} to {}, {})", text.empty() ? " " : ", ", name_of(each.form),
                        time_of(each), is_for_two ? " with the next" : "", each.source, each.result,
                        each.kernel);
  }
  return text;
}

// The second of two convolutions that are one step states the times of both.
std::string times_of(const Network& network, size_t variable, Form chosen) {
  const std::optional<uint32_t> first = network.begun_by[variable];
  std::string own = times_of(network.candidates[variable], first.has_value());
  if (chosen != Form::kSeparable || !first) return own;
  return fmt::format("{}; alone:{}", times_of(network.candidates[*first], false), own);
}

Reason measured_reason(const Network& network, size_t variable, Form chosen) {
  return {KernelChoice::kMeasured,
          fmt::format("{} is the cheapest beside its neighbours, measured here:{}", name_of(chosen),
                      times_of(network, variable, chosen))};
}

// Dissolves pairs of the rule. The first convolution of a pair still has kSeparable if it has no
// candidates: if times gave the second another form, the first gets its usual form.
void part_pairs(const graph::CompiledModel& model, ElementType type, std::vector<Form>& forms) {
  const auto readers = graph::consumers_of(model.graph);
  for (const graph::Partition& partition : model.partitions)
    for (uint32_t i = partition.first; i < partition.first + partition.count; ++i) {
      if (forms[i] != Form::kSeparable) continue;
      const ElementType own = type_of(model.graph.nodes[i], partition, type);
      const auto partner = kernels::separable::partner_of(model, own, readers, partition, i);
      if (partner && forms[*partner] != Form::kSeparable) forms[i] = usual_form(own);
    }
}

// Returns the forms that are the cheapest together; those of the rule where there was no choice.
Plan solve(const graph::CompiledModel& model, ElementType type, const Network& network) {
  Plan plan{usual_forms(model, type), std::vector<Reason>(model.graph.nodes.size())};
  const std::vector<uint32_t> chosen = cheapest(network.problem);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Form form = network.candidates[i][chosen[i]].form;
    plan.forms[network.nodes[i]] = form;
    plan.reasons[network.nodes[i]] = measured_reason(network, i, form);
  }
  part_pairs(model, type, plan.forms);
  return plan;
}

Plan plan_by_rule(const graph::CompiledModel& model, ElementType type) {
  Plan plan{usual_forms(model, type), std::vector<Reason>(model.graph.nodes.size())};
  for (const graph::Partition& partition : model.partitions)
    for (uint32_t i = partition.first; i < partition.first + partition.count; ++i)
      if (is_planned(model.graph, model.graph.nodes[i], partition))
        plan.reasons[i] = {
            KernelChoice::kRule,
            fmt::format("{} by rule: no measured times are used", name_of(plan.forms[i]))};
  return plan;
}

// Returns an empty record if there is no such file.
Result<Record> read_record(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(path, error);
  if (found.type() == std::filesystem::file_type::not_found) return Record{fingerprint(), {}};
  // Reading a device may never end.
  if (!std::filesystem::is_regular_file(found)) return invalid_argument("it is no regular file");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  // An empty file is no record, which parse_record() says.
  if (!file || (!(content << file.rdbuf()) && file.bad()))
    return io_error("it cannot be read", errno);
  MILLRACE_ASSIGN_OR_RETURN(Record record, parse_record(content.view()));
  if (record.fingerprint != fingerprint())
    return unsupported(fmt::format("its times are those of \"{}\", and this is \"{}\"",
                                   record.fingerprint, fingerprint()));
  return record;
}

// Other processes may have added times meanwhile, which stay.
Status add_to_file(Record record, const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(Record now, read_record(path));
  for (auto& [lanes, times] : record.lanes) {
    now.lanes[lanes].convolutions.merge(times.convolutions);
    now.lanes[lanes].moves.merge(times.moves);
  }
  const std::string text = to_text(now);
  return model::write_whole_file(path, std::as_bytes(std::span(text)));
}

// Loads of several threads measure one after the other: beside each other their times would be
// wrong, and the file would lose what one of them adds.
std::mutex measuring;

Result<Plan> measure(const graph::CompiledModel& model, ElementType type, const Division& division,
                     const dnnl::engine& engine, const std::string& path) {
  const std::lock_guard lock(measuring);
  MILLRACE_ASSIGN_OR_RETURN(Record record, read_record(path));
  const Record before = record;
  const std::optional<Network> network = [&] {
    MeasuredTimes times(record, engine);
    return describe(model, type, division, times);
  }();
  if (!(record == before)) MILLRACE_RETURN_IF_ERROR(add_to_file(std::move(record), path));
  if (!network) return unsupported("not all convolutions can be measured");
  return solve(model, type, *network);
}

Result<Plan> look_up(const graph::CompiledModel& model, ElementType type, const Division& division,
                     const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const Record record, read_record(path));
  RecordedTimes times(record);
  const std::optional<Network> network = describe(model, type, division, times);
  if (!network)
    return unsupported(fmt::format(
        "it does not have all operators of the model: it lacks times of {}", times.missing()));
  return solve(model, type, *network);
}

}  // namespace

std::string fingerprint() {
  // Counted up when the kernels of the device change, and with them their times.
  constexpr int kOwnKernels = 4;
  return fmt::format("{}, {} with instructions {:#x}, own kernels {}", topology().cpu_model,
                     library_version(), static_cast<unsigned>(dnnl_get_effective_cpu_isa()),
                     kOwnKernels);
}

Plan make_plan(const graph::CompiledModel& model, ElementType type, const Division& division,
               const dnnl::engine& engine) {
  const std::string path(environment_variable(kRecord));
  if (path.empty()) return plan_by_rule(model, type);
  const Result<bool> measures = switch_variable(kMeasure, false);
  Result<Plan> plan = !measures.ok() ? Result<Plan>(measures.status())
                      : *measures    ? measure(model, type, division, engine, path)
                                     : look_up(model, type, division, path);
  if (plan.ok()) return *std::move(plan);
  log(LogLevel::kWarning, "cpu",
      fmt::format("model \"{}\" has its usual kernels: record \"{}\": {}", model.name, path,
                  plan.status().message()));
  return plan_by_rule(model, type);
}

}  // namespace millrace::device::cpu::plan
