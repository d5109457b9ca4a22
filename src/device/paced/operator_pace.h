// OperatorPace: when the steps or the partitions of a program may begin, if a profile states how
// long the operators of its model take on average. Immutable and thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "queue/requests/run_control.h"

namespace millrace::device {

// The mean times of a frame's operators, by the name of the node. There is at least one, and their
// sum is not 0.
using OperatorTimes = std::map<std::string, std::chrono::nanoseconds>;

// Returns the time of all operators together.
std::chrono::nanoseconds sum_of(const OperatorTimes& times) noexcept;

class OperatorPace {
 public:
  // A step without a stated time takes none, and neither does a further step of the same node.
  OperatorPace(const Program& program, const OperatorTimes& times);

  // Returns how long after the begin of a frame the work at this position may begin.
  std::chrono::nanoseconds before(const queue::RunPosition& position) const noexcept;
  // Returns the time of all operators together, when what follows the steps may begin.
  std::chrono::nanoseconds sum() const noexcept { return sum_; }
  // Returns the time of those of them that the program has a step of.
  std::chrono::nanoseconds sum_of_steps() const noexcept { return sum_of_steps_; }
  // Returns the operators that the program has no step of, such as those that a compiler has merged
  // with others. Their time passes at the end of the frame.
  const std::vector<std::string>& missing() const noexcept { return missing_; }

 private:
  // By step, or by partition for a device that reports no steps.
  bool by_step_ = false;
  const std::chrono::nanoseconds sum_;
  std::chrono::nanoseconds sum_of_steps_{0};
  std::vector<std::chrono::nanoseconds> before_;
  std::vector<std::string> missing_;
};

}  // namespace millrace::device
