#include "device/paced/operator_pace.h"

#include <algorithm>
#include <string_view>

namespace millrace::device {
namespace {

using std::chrono::nanoseconds;

// Adds up the times of nodes, each node once.
class NodeSum {
 public:
  explicit NodeSum(const OperatorTimes& times) : left_(times) {}

  void add(const std::string& node) {
    const auto found = left_.find(node);
    if (found == left_.end()) return;
    sum_ += found->second;
    left_.erase(found);
  }
  nanoseconds sum() const noexcept { return sum_; }
  // The nodes that were not added.
  const OperatorTimes& left() const noexcept { return left_; }

 private:
  OperatorTimes left_;
  nanoseconds sum_{0};
};

}  // namespace

nanoseconds sum_of(const OperatorTimes& times) noexcept {
  nanoseconds sum{0};
  for (const auto& [node, time] : times) sum += time;
  return sum;
}

OperatorPace::OperatorPace(const Program& program, const OperatorTimes& times)
    : sum_(sum_of(times)) {
  NodeSum nodes(times);
  const ProgramInfo info = program.info();
  by_step_ = !info.steps.empty();
  for (const StepInfo& step : info.steps) {
    before_.push_back(nodes.sum());
    nodes.add(step.node);
  }
  const graph::CompiledModel& model = program.model();
  if (!by_step_) {
    for (const graph::Partition& partition : model.partitions) {
      before_.push_back(nodes.sum());
      for (uint32_t i = 0; i < partition.count; ++i)
        nodes.add(model.graph.nodes[partition.first + i].name);
    }
  }
  sum_of_steps_ = nodes.sum();
  for (const auto& [node, time] : nodes.left()) missing_.push_back(node);
}

nanoseconds OperatorPace::before(const queue::RunPosition& position) const noexcept {
  const size_t index = by_step_ ? position.step : position.partition;
  return index < before_.size() ? before_[index] : nanoseconds(0);
}

}  // namespace millrace::device
