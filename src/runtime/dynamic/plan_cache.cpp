// A plan is made by lowering as many of the remaining nodes as possible (lowering::lower_stage) and
// loading the graph. If no node can be lowered, nodes that run by themselves are taken; if there is
// none either, and the first node is an If, that If is run. Otherwise the lowering's error is
// returned.
#include "runtime/dynamic/plan_cache.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "lowering/finish.h"
#include "lowering/node_facts.h"
#include "runtime/dynamic/node_reads.h"

namespace millrace::runtime {
namespace {

using lowering::Known;

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.data() == b.data() || std::ranges::equal(a, b));
}

bool is_good_for(const Plan& plan, std::span<const Known> known) {
  for (size_t i = 0; i < known.size(); ++i) {
    if (plan.types[i].type != known[i].type || plan.types[i].shape != known[i].shape) return false;
  }
  return std::ranges::all_of(plan.read, [&](const auto& read) {
    const Known& value = known[read.first];
    return value.elements && same_bytes(value.elements->bytes, read.second);
  });
}

std::vector<size_t> all_nodes(const network::Network& network) {
  std::vector<size_t> nodes(network.nodes.size());
  std::iota(nodes.begin(), nodes.end(), size_t{0});
  return nodes;
}

// Copies the elements of the known values that the stage has read, with the position of each value.
std::vector<std::pair<size_t, std::vector<std::byte>>> copy_read(
    const std::vector<std::string>& names, std::span<const Known> known) {
  std::vector<std::pair<size_t, std::vector<std::byte>>> read;
  for (size_t i = 0; i < known.size(); ++i) {
    if (!std::ranges::binary_search(names, known[i].name) || !known[i].elements) continue;
    const std::span<const std::byte> bytes = known[i].elements->bytes;
    read.emplace_back(i, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  return read;
}

// Moves nodes that run by themselves from `rest` to `alone`, if their operands are known after the
// stage's program has run.
void take_nodes_alone(const network::Network& network, Plan& plan) {
  std::unordered_set<std::string_view> pending;
  for (const size_t index : plan.rest) {
    for (const std::string& name : network.nodes[index].outputs) {
      if (!name.empty()) pending.insert(name);
    }
  }
  std::vector<size_t> left;
  for (const size_t index : plan.rest) {
    const network::Node& node = network.nodes[index];
    const bool ready = lowering::runs_alone(node) && !reads_any_of(node, pending);
    (ready ? plan.alone : left).push_back(index);
    if (!ready) continue;
    for (const std::string& name : node.outputs) pending.erase(name);
  }
  plan.rest = std::move(left);
}

// Moves the first node of `rest`, whose operands are known, to `alone` if it is an If. Call when no
// other node can run: the values inside its branch must be known before the branch can be lowered.
bool take_first_if(const network::Network& network, Plan& plan) {
  if (!lowering::is_if(network.nodes[plan.rest.front()])) return false;
  plan.alone.push_back(plan.rest.front());
  plan.rest.erase(plan.rest.begin());
  return true;
}

}  // namespace

std::vector<std::string> PlanCache::names_needed(const network::Network& network,
                                                 const Plan* after) {
  if (after != nullptr) return after->needs;
  std::vector<std::string> names = network.captures;
  for (const network::Input& input : network.inputs) names.push_back(input.name);
  return names;
}

Result<std::shared_ptr<const Plan>> PlanCache::find_or_make(
    const network::Network& network, const std::shared_ptr<const Plan>& after,
    std::span<const Known> known) {
  if (std::shared_ptr<const Plan> found = find(network, after.get(), known)) return found;
  const std::lock_guard one_maker(making_);
  // Another thread may have made the plan in the meantime.
  if (std::shared_ptr<const Plan> found = find(network, after.get(), known)) return found;
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> made, make(network, after, known));
  if (made != nullptr) keep(made);
  return made;
}

std::shared_ptr<const Plan> PlanCache::find(const network::Network& network, const Plan* after,
                                            std::span<const Known> known) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(plans_, [&](const auto& plan) {
    return plan->network == &network && plan->after.get() == after && is_good_for(*plan, known);
  });
  if (found == plans_.end()) return nullptr;
  ++counters_.found;
  plans_.splice(plans_.begin(), plans_, found);
  return plans_.front();
}

void PlanCache::keep(std::shared_ptr<const Plan> plan) {
  // Declared before the lock, so destroyed after it is released: unloading a program takes long.
  std::shared_ptr<const Plan> evicted;
  const std::lock_guard lock(mutex_);
  ++counters_.made;
  plans_.push_front(std::move(plan));
  if (plans_.size() <= capacity_) return;
  evicted = std::move(plans_.back());
  plans_.pop_back();
  ++counters_.evicted;
}

Result<std::shared_ptr<const device::Program>> PlanCache::load(graph::Graph graph) const {
  lowering::LoweringOptions options;
  options.capabilities = device_.capabilities();
  options.precision = model_.precision;
  options.is_stage = true;
  options.derived = &derived_;
  options.cpu_operators.insert(model_.cpu_operators.begin(), model_.cpu_operators.end());
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel stage,
                            lowering::finish(std::move(graph), options, model_.name));
  return device_.load(std::make_shared<const graph::CompiledModel>(std::move(stage)));
}

Result<std::shared_ptr<const Plan>> PlanCache::make(const network::Network& network,
                                                    const std::shared_ptr<const Plan>& after,
                                                    std::span<const Known> known) const {
  const std::vector<size_t> nodes = after == nullptr ? all_nodes(network) : after->rest;
  const graph::Capabilities capabilities = device_.capabilities();
  MILLRACE_ASSIGN_OR_RETURN(lowering::Stage stage,
                            lowering::lower_stage({network, capabilities, nodes, known}));
  auto plan = std::make_shared<Plan>();
  plan->rest = std::move(stage.rest);
  take_nodes_alone(network, *plan);
  // This is not an error for a subgraph without nodes, whose outputs are inputs or captured values.
  if (!nodes.empty() && plan->rest.size() == nodes.size()) {
    if (!std::ranges::all_of(known, [](const Known& value) { return value.elements.has_value(); }))
      return std::shared_ptr<const Plan>();
    if (!take_first_if(network, *plan)) {
      // No node can run. This call returns the reasons of the nodes as its error.
      MILLRACE_RETURN_IF_ERROR(
          lowering::lower_stage({network, capabilities, nodes, known, false}).status());
      return internal_error("no operator of the model can run next");
    }
  }
  plan->network = &network;
  plan->after = after;
  for (const Known& value : known) plan->types.push_back({value.type, value.shape});
  plan->read = copy_read(stage.read, known);
  plan->needs = values_needed(network, plan->rest);
  plan->inputs = std::move(stage.inputs);
  plan->outputs = std::move(stage.outputs);
  plan->constants = std::move(stage.constants);
  if (!stage.graph.nodes.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(plan->program, load(std::move(stage.graph)));
  }
  return std::shared_ptr<const Plan>(std::move(plan));
}

PlanCounters PlanCache::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace millrace::runtime
