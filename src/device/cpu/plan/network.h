// The convolutions of a model as a problem for cheapest.h: the times of their forms, and of the
// reorders between them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/plan/cheapest.h"
#include "device/cpu/plan/division.h"
#include "device/cpu/plan/times.h"
#include "graph/compiled_model.h"

namespace millrace::device::cpu::plan {

struct Network {
  std::vector<uint32_t> nodes;                     // by variable: the convolution
  std::vector<std::vector<Candidate>> candidates;  // by variable
  // By variable: the variable of the preceding convolution, if one step could compute both.
  std::vector<std::optional<uint32_t>> begun_by;
  Problem problem;  // an option for each candidate
};

// Whether describe() may find something to choose for the node: a convolution that an NPU partition
// computes in the type of the program, with weights that are constant and not quantised.
bool is_planned(const graph::Graph& graph, const graph::Node& node,
                const graph::Partition& partition);

// Describes the convolutions that NPU partitions compute in `type`. Quantised ones are left out,
// since they have layouts of their own, and so are those without a choice of kernels. As many lanes
// take part in an operator as `division` divides it among. Returns nothing if a time that is needed
// is unknown.
//
// A convolution that one step could compute together with the depthwise one that follows has
// kSeparable among its candidates, with the time of both; the other has it, too, without a time. In
// the problem each of them bears half of it. They are taken together only.
//
// Operators between convolutions are taken to keep the layout of their first operand if they work
// element by element, window by window or channel by channel, and to want C order otherwise. An
// image that several convolutions read in a layout that it does not have is counted for each of
// them, although it is moved once.
std::optional<Network> describe(const graph::CompiledModel& model, ElementType type,
                                const Division& division, Times& times);

}  // namespace millrace::device::cpu::plan
