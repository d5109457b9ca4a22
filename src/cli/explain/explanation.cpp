// The JSON is made from device::ProgramInfo, the graph and the profile; the text is printed from
// the JSON, so both say the same. Steps belong to operators by the name of the node.
#include "cli/explain/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/passes/graph_text.h"
#include "cli/print_escaped.h"
#include "cli/report/numbers.h"
#include "graph/precision_name.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;
using graph::PartitionKind;

// Returns the indices of the steps of each node, by its name.
std::map<std::string, std::vector<size_t>> steps_by_node(const device::ProgramInfo& info) {
  std::map<std::string, std::vector<size_t>> steps;
  for (size_t i = 0; i < info.steps.size(); ++i)
    if (!info.steps[i].node.empty()) steps[info.steps[i].node].push_back(i);
  return steps;
}

std::string why_on_cpu(const graph::Graph& graph, const graph::Node& node,
                       const graph::Capabilities& capabilities,
                       const lowering::CpuOperators& cpu_operators) {
  const std::vector<std::string> names = lowering::matching_names(node, cpu_operators);
  if (!names.empty()) return fmt::format("--cpu-ops names {}", fmt::join(names, " and "));
  if (!capabilities.runs_on_npu(graph, node))
    return fmt::format("the NPU has no kernel for {} of these types", graph::name_of(node.op));
  // An archive does not store the options with which it was compiled.
  return "the compiler put it there, because of --cpu-ops or since its neighbours are on the CPU";
}

Json describe_operator(const graph::Node& node, const std::vector<size_t>& steps) {
  Json result = {{"node", node.name},
                 {"operator", operation_name(node.op)},
                 {"attributes", attributes_text(node.op)},
                 {"steps", steps}};
  for (const graph::Origin& origin : node.origins)
    result["origins"].push_back({{"node", origin.name}, {"operator", origin.type}});
  return result;
}

Json describe_operators(const graph::CompiledModel& model, const graph::Partition& partition,
                        const std::map<std::string, std::vector<size_t>>& steps,
                        const graph::Capabilities& capabilities,
                        const lowering::CpuOperators& cpu_operators) {
  Json operators = Json::array();
  for (const graph::Node& node :
       std::span(model.graph.nodes).subspan(partition.first, partition.count)) {
    const auto found = steps.find(node.name);
    operators.push_back(
        describe_operator(node, found == steps.end() ? std::vector<size_t>{} : found->second));
    if (partition.kind == PartitionKind::kCpu)
      operators.back()["why_cpu"] = why_on_cpu(model.graph, node, capabilities, cpu_operators);
  }
  return operators;
}

Json describe_step(const device::StepInfo& step, size_t number) {
  Json result = {{"step", number},
                 {"operation", step.operation},
                 {"node", step.node},
                 {"kernel", step.implementation},
                 {"precision", step.precision ? graph::name_of(*step.precision) : "int"},
                 {"reads", step.reads},
                 {"writes", step.writes},
                 {"output", step.output}};
  if (!step.reason.empty()) result["reason"] = step.reason;
  return result;
}

void add_time(Json& step, const runtime::TimeShare& share, const runtime::ProfileTotals& profile) {
  const auto total = static_cast<double>(profile.execute_ns);
  step["share"] = total > 0 ? static_cast<double>(share.total_ns) / total : 0;
  step["mean_us"] = share.calls > 0 ? static_cast<double>(share.total_ns) * 1e-3 /
                                          static_cast<double>(share.calls)
                                    : 0;
}

Json describe_steps(const device::ProgramInfo& info, uint32_t partition,
                    const runtime::ProfileTotals* profile) {
  Json steps = Json::array();
  for (size_t i = 0; i < info.steps.size(); ++i) {
    if (info.steps[i].partition != partition) continue;
    steps.push_back(describe_step(info.steps[i], i));
    if (profile != nullptr) add_time(steps.back(), profile->steps[i], *profile);
  }
  return steps;
}

double share_of(const Json& step) {
  return step.contains("share") ? step["share"].get<double>() : 0;
}

void print_step(const Json& step) {
  const std::string share =
      step.contains("share") ? fmt::format("{:5.1f} %  ", 100 * step["share"].get<double>()) : "";
  const auto node = step["node"].get<std::string>();
  print_escaped("{:>5}  {:<20} {:<5} {}{}  \"{}\"\n", step["step"].get<size_t>(),
                step["operation"].get<std::string>(), step["precision"].get<std::string>(), share,
                step["kernel"].get<std::string>(),
                node.empty() ? step["output"].get<std::string>() : node);
  if (const auto reads = step["reads"].get<std::string>(); !reads.empty())
    print_escaped("         {} -> {}\n", reads, step["writes"].get<std::string>());
  if (step.contains("reason"))
    print_escaped("         why: {}\n", step["reason"].get<std::string>());
}

// Returns the sums of the shares and times of each operation, the longest first.
Json sums_by_operation(const Json& partitions) {
  std::map<std::string, Json> sums;
  for (const Json& partition : partitions) {
    for (const Json& step : partition["steps"]) {
      const auto operation = step["operation"].get<std::string>();
      Json& sum =
          sums.try_emplace(
                  operation,
                  Json{{"operation", operation}, {"steps", 0}, {"share", 0.0}, {"mean_us", 0.0}})
              .first->second;
      sum["steps"] = sum["steps"].get<size_t>() + 1;
      for (const char* figure : {"share", "mean_us"})
        sum[figure] = sum[figure].get<double>() + step[figure].get<double>();
    }
  }
  std::vector<Json> sorted;
  sorted.reserve(sums.size());
  for (auto& [operation, sum] : sums) sorted.push_back(std::move(sum));
  std::ranges::stable_sort(sorted, std::greater<>(), share_of);
  return sorted;
}

void print_sums(const Json& sums) {
  print_escaped("time by operation\n");
  for (const Json& sum : sums)
    print_escaped("  {:<20} {:5.1f} %  {} in {} steps\n", sum["operation"].get<std::string>(),
                  100 * sum["share"].get<double>(), time_text(1e3 * sum["mean_us"].get<double>()),
                  sum["steps"].get<size_t>());
}

// Prints the steps in their order or, with a profile, the longest first.
void print_steps(std::vector<Json> steps) {
  std::ranges::stable_sort(steps, std::greater<>(), share_of);
  for (const Json& step : steps) print_step(step);
}

void print_operators(const Json& operators) {
  for (const Json& node : operators) {
    const auto name = node["node"].get<std::string>(), type = node["operator"].get<std::string>();
    if (node["steps"].empty())
      print_escaped(
          "    -  {:<20} no step: its result is its operand's memory, or part of a step below  "
          "\"{}\"\n",
          type, name);
    if (node.contains("why_cpu"))
      print_escaped("  CPU  {:<20} \"{}\": {}\n", type, name, node["why_cpu"].get<std::string>());
  }
}

}  // namespace

Json explain(const device::Program& program, const graph::Capabilities& capabilities,
             const lowering::CpuOperators& cpu_operators, const runtime::ProfileTotals* profile) {
  const graph::CompiledModel& model = program.model();
  const device::ProgramInfo info = program.info();
  const auto steps = steps_by_node(info);
  Json result = {{"model", model.name},
                 {"device", info.device},
                 {"precision", graph::precision_name(model, info.precision)}};
  if (!info.note.empty()) result["note"] = info.note;
  if (profile != nullptr && profile->frames > 0)
    result["mean_frame_us"] =
        static_cast<double>(profile->execute_ns) * 1e-3 / static_cast<double>(profile->frames);
  result["partitions"] = Json::array();
  for (uint32_t i = 0; i < model.partitions.size(); ++i) {
    const graph::Partition& partition = model.partitions[i];
    result["partitions"].push_back(
        {{"kind", graph::name_of(partition.kind)},
         {"operators", describe_operators(model, partition, steps, capabilities, cpu_operators)},
         {"steps", describe_steps(info, i, profile)}});
  }
  if (profile != nullptr) result["by_operation"] = sums_by_operation(result["partitions"]);
  return result;
}

void print_explanation(const Json& explanation) {
  print_escaped("{}  {}  on {}\n", explanation["model"].get<std::string>(),
                explanation["precision"].get<std::string>(),
                explanation["device"].get<std::string>());
  if (explanation.contains("note"))
    print_escaped("note: {}\n", explanation["note"].get<std::string>());
  if (explanation.contains("mean_frame_us"))
    print_escaped("a frame takes {}\n",
                  time_text(1e3 * explanation["mean_frame_us"].get<double>()));
  if (explanation.contains("by_operation")) print_sums(explanation["by_operation"]);
  size_t number = 0;
  for (const Json& partition : explanation["partitions"]) {
    print_escaped("partition {}: {}, {} operators in {} steps\n", number++,
                  partition["kind"].get<std::string>(), partition["operators"].size(),
                  partition["steps"].size());
    print_steps(partition["steps"].get<std::vector<Json>>());
    print_operators(partition["operators"]);
  }
}

}  // namespace millrace::cli
