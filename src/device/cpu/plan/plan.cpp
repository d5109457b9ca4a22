#include "device/cpu/plan/plan.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
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
#include "device/cpu/kernels/separable/pairs.h"
#include "device/cpu/kernels/winograd/winograd.h"
#include "device/cpu/plan/network.h"
#include "device/cpu/plan/table/shipped.h"
#include "model/files/temporary_output.h"

namespace millrace::device::cpu::plan {
namespace {

constexpr const char* kRecord = "MILLRACE_TUNING";
constexpr const char* kMeasure = "MILLRACE_TUNE";

// Whether the convolution is between many channels of an image so small that oneDNN's kernels
// on blocks run short of elements. One that would have a larger image reordered, for a single
// product with each element, is not.
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
  if (kernels::winograd::is_worthwhile(convolution)) return Form::kWinograd;
  if (type == ElementType::f32 && is_narrow(convolution)) return Form::kChannelsLast;
  return usual_form(type);
}

// The type that the node computes in, in a model of `type`.
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

Rule usual_rule(const graph::CompiledModel& model, ElementType type) {
  // Beyond what the times of two processors, and of two neighbours in a table, differ by.
  constexpr uint32_t kPercentMore = 10;
  // One step for two convolutions keeps an image out of memory, while times are made with all in
  // the cache.
  constexpr uint32_t kPercentMoreThanStep = 15;
  Rule rule{{}, kPercentMore, kPercentMoreThanStep};
  for (const graph::Node& node : model.graph.nodes)
    rule.forms.push_back(usual_form_of(model.graph, node, type));
  join_separable(model, type, rule.forms);
  return rule;
}

std::string time_of(const Candidate& candidate) {
  if (!candidate.is_timed) return "unknown";
  return fmt::format("{:.1f} us", static_cast<double>(candidate.nanoseconds) * 1e-3);
}

// A convolution that ends such a step has no time of its own in it.
std::string times_of(const std::vector<Candidate>& candidates, bool ends_step) {
  std::string text;
  for (const Candidate& each : candidates) {
    const bool is_for_two = each.form == Form::kSeparable;
    if (is_for_two && ends_step) continue;
    text += fmt::format("{}{} {}{} ({} to {}{}{})", text.empty() ? " " : ", ", name_of(each.form),
                        time_of(each), is_for_two ? " with the next" : "", each.source, each.result,
                        each.kernel.empty() ? "" : ", ", each.kernel);
  }
  return text;
}

// The second of two convolutions that are one step has the reason for both.
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

// The reason if the table has no time for the form that was chosen.
Reason untimed_reason(Form chosen, const char* table) {
  return {KernelChoice::kRule,
          fmt::format("{} by rule: the table of {} has no such {}", name_of(chosen), table,
                      chosen == Form::kSeparable ? "step, or not both of its convolutions"
                                                 : "convolution")};
}

Reason table_reason(const Network& network, size_t variable, const Candidate& candidate,
                    const Rule& rule, const char* table) {
  const Form chosen = candidate.form, usual = rule.forms[network.nodes[variable]];
  if (!candidate.is_timed) return untimed_reason(chosen, table);
  const std::string times = times_of(network, variable, chosen);
  if (chosen == usual)
    return {
        KernelChoice::kRule,
        fmt::format(
            "{} by rule: beside its neighbours no form is cheaper by {} %, by the table of {}:{}",
            name_of(chosen), rule.percent_more_for(network.nodes[variable]), table, times)};
  return {KernelChoice::kTable,
          fmt::format("{} instead of {}, the rule, is the cheapest beside its neighbours, by the "
                      "table of {}:{}",
                      name_of(chosen), name_of(usual), table, times)};
}

// `reason` is called with a variable of the network and the candidate that it takes.
template <class MakeReason>
Plan solve(const Rule& rule, const Network& network, MakeReason reason) {
  Plan plan{rule.forms, std::vector<Reason>(rule.forms.size())};
  const std::vector<uint32_t> chosen = cheapest(network.problem);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Candidate& candidate = network.candidates[i][chosen[i]];
    plan.forms[network.nodes[i]] = candidate.form;
    plan.reasons[network.nodes[i]] = reason(i, candidate);
  }
  return plan;
}

// A pair of the rule is none any more where only its second half was chosen for.
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

Plan solve_measured(const graph::CompiledModel& model, ElementType type, const Network& network) {
  const auto reason = [&network](size_t variable, const Candidate& chosen) {
    return measured_reason(network, variable, chosen.form);
  };
  Plan plan = solve(usual_rule(model, type), network, reason);
  part_pairs(model, type, plan.forms);
  return plan;
}

bool has_convolutions(const graph::CompiledModel& model) {
  return std::ranges::any_of(model.graph.nodes, [](const graph::Node& node) {
    return std::holds_alternative<graph::Conv>(node.op);
  });
}

// `why` nothing is weighed against the rule.
Plan plan_by_rule(const graph::CompiledModel& model, const Rule& rule, const std::string& why) {
  Plan plan{rule.forms, std::vector<Reason>(rule.forms.size())};
  for (const graph::Partition& partition : model.partitions)
    for (uint32_t i = partition.first; i < partition.first + partition.count; ++i)
      if (is_planned(model.graph, model.graph.nodes[i], partition))
        plan.reasons[i] = {KernelChoice::kRule,
                           fmt::format("{} by rule: {}", name_of(rule.forms[i]), why)};
  return plan;
}

// The plan if nothing was measured on this processor.
Plan shipped_plan(const graph::CompiledModel& model, ElementType type, const Division& division) {
  const Rule rule = usual_rule(model, type);
  const std::optional<UsedTable> used =
      has_convolutions(model) ? used_table(type) : std::nullopt;  // reading one takes time
  if (!used) return plan_by_rule(model, rule, "no table has times for this processor");
  TableTimes times(*used->table);
  const std::optional<Network> network = describe(model, type, division, times, &rule);
  if (!network)
    return plan_by_rule(model, rule,
                        fmt::format("the table of {} lacks times of reorders", used->name));
  return solve(rule, *network, [&](size_t variable, const Candidate& chosen) {
    return table_reason(*network, variable, chosen, rule, used->name);
  });
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
  return solve_measured(model, type, *network);
}

Result<Plan> look_up(const graph::CompiledModel& model, ElementType type, const Division& division,
                     const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const Record record, read_record(path));
  RecordedTimes times(record);
  const std::optional<Network> network = describe(model, type, division, times);
  if (!network)
    return unsupported(fmt::format(
        "it does not have all operators of the model: it lacks times of {}", times.missing()));
  return solve_measured(model, type, *network);
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
  if (path.empty()) return shipped_plan(model, type, division);
  const Result<bool> measures = switch_variable(kMeasure, false);
  Result<Plan> plan = !measures.ok() ? Result<Plan>(measures.status())
                      : *measures    ? measure(model, type, division, engine, path)
                                     : look_up(model, type, division, path);
  if (plan.ok()) return *std::move(plan);
  log(LogLevel::kWarning, "cpu",
      fmt::format("model \"{}\" has its usual kernels: record \"{}\": {}", model.name, path,
                  plan.status().message()));
  return shipped_plan(model, type, division);
}

}  // namespace millrace::device::cpu::plan
