// Signature: describes the operation that a rank calls, so that all ranks of a group can check
// whether they call the same one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ranks/element.h"

namespace millrace::ranks {

enum class Operation : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kPermute,
  kBarrier,
  kLeave,
  kGivenUp,  // not an operation: the rank ends, and its frame holds the reason
};

// Sent between hosts as its bytes in memory, so all hosts must have the same byte order.
struct Signature {
  Operation operation = Operation::kBarrier;
  Element element = Element::kUint8;      // only for operations that reduce
  Reduction reduction = Reduction::kSum;  // only for operations that reduce
  uint8_t reserved[5] = {};               // zero
  uint64_t number = 0;                    // number of the operation in its channel, from 1
  uint64_t bytes = 0;                     // size of each input, or of each input block
  uint64_t root = 0;                      // sending rank of a broadcast

  friend bool operator==(const Signature&, const Signature&) = default;
};

// Returns the name of an operation, such as "all_reduce".
std::string_view name_of(Operation operation) noexcept;

// Returns a description, for example "all_reduce 17 (FLOAT32 sum of 4096 bytes)". Invalid values
// are allowed, since a peer may send them.
std::string describe(const Signature& signature);

}  // namespace millrace::ranks
