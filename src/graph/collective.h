// Collectives: the operators of a graph that the ranks of a divided model compute together. Each is
// a Fallback, with a row in src/fallback/collective, and runs on the communicator of the program.
//
// A function of its argument alone: thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/operators.h"

namespace millrace::graph {

enum class Collective : uint8_t {
  kAllReduce,  // the sum over all ranks
  kAllGather,  // the operands of all ranks, joined along an axis
  kAllToAll,   // block r of the first dimension goes to rank r, and is replaced by what r sent
  kBroadcast,  // the operand of one rank
};

// Whether any number of ranks may take part where the attribute group_size does not say how many.
constexpr bool takes_any_ranks(Collective collective) noexcept {
  return collective == Collective::kAllReduce || collective == Collective::kBroadcast;
}

// Nothing for every other operator.
std::optional<Collective> collective_of(const Fallback& op) noexcept;

inline bool is_collective(const Operator& op) noexcept {
  const auto* fallback = std::get_if<Fallback>(&op);
  return fallback != nullptr && collective_of(*fallback).has_value();
}

}  // namespace millrace::graph
