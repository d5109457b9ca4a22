#include "cli/explain/node_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/print_escaped.h"
#include "cli/report/numbers.h"

namespace millrace::cli {
namespace {

using TimesJson = nlohmann::ordered_json;

struct NodeTimes {
  std::string node, type;
  std::optional<double> us, other_us;

  double longest() const { return std::max(us.value_or(0), other_us.value_or(0)); }
  bool is_node() const { return !node.empty(); }
};

using TimesByNode = std::map<std::string, NodeTimes>;

// Adds the times of all steps to the member `time` of their nodes.
void add_steps(const TimesJson& explanation, std::optional<double> NodeTimes::*time,
               TimesByNode& nodes) {
  for (const TimesJson& partition : explanation["partitions"]) {
    for (const TimesJson& step : partition["steps"]) {
      const auto name = step["node"].get<std::string>();
      NodeTimes& node = nodes[name];
      node.node = name;
      node.*time = (node.*time).value_or(0) + step["mean_us"].get<double>();
    }
  }
}

// Adds the types of operators, of which the first model's are the ones to show.
void add_types(const TimesJson& explanation, TimesByNode& nodes) {
  for (const TimesJson& partition : explanation["partitions"]) {
    for (const TimesJson& op : partition["operators"]) {
      const auto found = nodes.find(op["node"].get<std::string>());
      if (found != nodes.end() && found->second.type.empty())
        found->second.type = op["operator"].get<std::string>();
    }
  }
}

TimesJson optional_time(const std::optional<double>& time) {
  return time ? TimesJson(*time) : TimesJson(nullptr);
}

std::string time_cell(const TimesJson& time) {
  return time.is_null() ? "-" : time_text(1e3 * time.get<double>());
}

std::string ratio_cell(const TimesJson& node) {
  if (node["mean_us"].is_null() || node["other_us"].is_null()) return {};
  return ratio_text(node["other_us"].get<double>(), node["mean_us"].get<double>());
}

void print_compilation(const char* column, const TimesJson& explanation) {
  print_escaped(
      "{}  {}  {}  on {}: a frame takes {}\n", column, explanation["model"].get<std::string>(),
      explanation["precision"].get<std::string>(), explanation["device"].get<std::string>(),
      explanation.contains("mean_frame_us") ? time_cell(explanation["mean_frame_us"])
                                            : std::string("-"));
}

}  // namespace

TimesJson times_by_node(const TimesJson& explanation, const TimesJson& other) {
  TimesByNode nodes;
  add_steps(explanation, &NodeTimes::us, nodes);
  add_steps(other, &NodeTimes::other_us, nodes);
  add_types(explanation, nodes);
  add_types(other, nodes);
  std::vector<NodeTimes> sorted;
  for (const auto& [name, node] : nodes) sorted.push_back(node);
  std::ranges::stable_sort(sorted, [](const NodeTimes& a, const NodeTimes& b) {
    if (a.is_node() != b.is_node()) return a.is_node();
    return a.longest() > b.longest();
  });
  TimesJson list = TimesJson::array();
  for (const NodeTimes& node : sorted)
    list.push_back({{"node", node.node},
                    {"operator", node.type},
                    {"mean_us", optional_time(node.us)},
                    {"other_us", optional_time(node.other_us)}});
  return list;
}

void print_comparison(const TimesJson& explanation) {
  print_compilation("A", explanation);
  print_compilation("B", explanation["against"]);
  print_escaped("{:>10}  {:>10}  {:>12}  node\n", "A", "B", "B takes");
  for (const TimesJson& node : explanation["by_node"]) {
    const auto name = node["node"].get<std::string>();
    const auto type = node["operator"].get<std::string>();
    print_escaped("{:>10}  {:>10}  {:>12}  {}\n", time_cell(node["mean_us"]),
                  time_cell(node["other_us"]), ratio_cell(node),
                  name.empty()   ? std::string("steps of no node, such as reorders")
                  : type.empty() ? fmt::format("\"{}\"", name)
                                 : fmt::format("\"{}\" ({})", name, type));
  }
}

}  // namespace millrace::cli
