// Signature: what a rank says of the operation that it calls, so that all ranks of a group can see
// whether they call the same.
#pragma once

#include <cstdint>
#include <string>

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
  kGivenUp,  // no operation: the rank ends, and its frame holds the reason
};

// Sent between hosts as it is: all of them have the same byte order.
struct Signature {
  Operation operation = Operation::kBarrier;
  Element element = Element::kUint8;      // of operations that reduce
  Reduction reduction = Reduction::kSum;  // of these, too
  uint8_t reserved[5] = {};               // zero
  uint64_t number = 0;                    // of the operation in its channel, from 1
  uint64_t bytes = 0;                     // of each input, or block of the inputs
  uint64_t root = 0;                      // of a broadcast

  friend bool operator==(const Signature&, const Signature&) = default;
};

// For example "all_reduce 17 (FLOAT32 sum of 4096 bytes)". Any bits may be described.
std::string describe(const Signature& signature);

}  // namespace millrace::ranks
