// The address of an execution unit, and the sequence ids that programs see.
#pragma once

#include <cstdint>
#include <string>

#include "nrt/nrt_async.h"
#include "queue/requests/ids.h"

namespace millrace::nrt {

// Clients assume that the numbers of logical cores are below this one.
inline constexpr uint32_t kMostCores = 128;

// The kinds of 2.28. Later clients know one kind for all transfers, which is kOp.
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

// The unit's number in sequence ids: sixteen per core, three per kind.
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

// The name as the calls have it: "TENSOR_OP".
const char* name_of(UnitKind kind) noexcept;
// For logs and traces: "TENSOR_OP queue 1 of core 0", without the queue for a kind that has one
// only.
std::string name_of(const UnitAddress& address);

// The sequence id that programs see for an id of the core: it has the unit's number where the
// core's has the unit's id, so that the ids of a run do not depend on what else the process does.
constexpr nrta_seq_t outward_id(uint16_t unit_number, queue::SequenceId id) noexcept {
  return queue::sequence_of(unit_number, queue::counter_of(id));
}

}  // namespace millrace::nrt
