// UnitAddress: core, kind and queue of an execution unit, the unit's number, which encodes them,
// and the sequence ids that programs see, whose upper 16 bits are that number.
#pragma once

#include <cstdint>
#include <string>

#include "nrt/nrt_async.h"
#include "queue/requests/ids.h"

namespace millrace::nrt {

// The largest number of logical cores: programs assume that core numbers are smaller than this.
inline constexpr uint32_t kMostCores = 128;

// The kinds of SDK 2.28. Programs of later SDKs use kOp for all transfers.
enum class UnitKind : uint8_t { kRead, kWrite, kOp, kCompute, kCollectives };
inline constexpr int kUnitKinds = 5;

constexpr uint32_t queues_of(UnitKind kind) noexcept {
  switch (kind) {
    case UnitKind::kCompute:
      return 1;
    case UnitKind::kCollectives:
      return 3;
    default:
      return 2;
  }
}

struct UnitAddress {
  uint32_t core = 0;
  UnitKind kind = UnitKind::kCompute;
  uint32_t queue = 0;
};

// The number of a unit: sixteen numbers are reserved per core, three of them per kind.
inline constexpr uint32_t kUnitsPerCore = 16;
constexpr uint16_t number_of(const UnitAddress& address) noexcept {
  return static_cast<uint16_t>(address.core * kUnitsPerCore +
                               static_cast<uint32_t>(address.kind) * 3 + address.queue);
}

constexpr UnitAddress address_with(uint16_t unit_number) noexcept {
  const uint32_t in_core = unit_number % kUnitsPerCore;
  return {unit_number / kUnitsPerCore, static_cast<UnitKind>(in_core / 3), in_core % 3};
}
constexpr int core_of(uint16_t unit_number) noexcept {
  return static_cast<int>(unit_number / kUnitsPerCore);
}

// Returns the name that the public API uses for the kind, such as "TENSOR_OP".
const char* name_of(UnitKind kind) noexcept;
// Returns the name for logs and traces, such as "TENSOR_OP queue 1 of core 0"; "queue 1" is omitted
// for kinds that have only one queue.
std::string name_of(const UnitAddress& address);

// Translates a sequence id of the core to the one that programs see: the unit's number replaces its
// id, which depends on the order in which units are created in the process.
constexpr nrta_seq_t outward_id(uint16_t unit_number, queue::SequenceId id) noexcept {
  return queue::sequence_of(unit_number, queue::counter_of(id));
}

}  // namespace millrace::nrt
