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

// Nothing for every other operator.
std::optional<Collective> collective_of(const Fallback& op) noexcept;

inline bool is_collective(const Operator& op) noexcept {
  const auto* fallback = std::get_if<Fallback>(&op);
  return fallback != nullptr && collective_of(*fallback).has_value();
}

}  // namespace millrace::graph
