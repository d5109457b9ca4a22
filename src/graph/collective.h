// Collectives: the operators that the ranks of a sharded model compute together, as in MPI. Each is
// a Fallback in domain com.microsoft, has a row in src/fallback/collective, and runs on the
// communicator of the program.
//
// All functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/operators.h"

namespace millrace::graph {

enum class Collective : uint8_t {
  kAllReduce,  // the sum over all ranks
  kAllGather,  // the operands of all ranks, joined along an axis
  kAllToAll,   // block r of the first dimension is exchanged with rank r
  kBroadcast,  // the operand of one rank
};

// Whether the collective is defined for any number of ranks. The others must state the number in
// the attribute group_size.
constexpr bool takes_any_ranks(Collective collective) noexcept {
  return collective == Collective::kAllReduce || collective == Collective::kBroadcast;
}

// Returns which collective the operator is; nothing if it is none.
std::optional<Collective> collective_of(const Fallback& op) noexcept;

inline bool is_collective(const Operator& op) noexcept {
  const auto* fallback = std::get_if<Fallback>(&op);
  return fallback != nullptr && collective_of(*fallback).has_value();
}

}  // namespace millrace::graph
