// The address of an execution unit, and the sequence ids that programs see.
#pragma once

#include <cstdint>
#include <string>

#include "nrt/nrt_async.h"
#include "queue/ids.h"

namespace millrace::nrt {

// Clients assume that a machine has fewer logical cores.
inline constexpr uint32_t kMostCores = 127;

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

// As logs and traces show them: "TENSOR_OP", "TENSOR_OP queue 1 of core 0".
const char* name_of(UnitKind kind) noexcept;
std::string name_of(const UnitAddress& address);

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

// As the calls have it: "TENSOR_OP", and for messages "TENSOR_OP queue 1 of core 0", without the
// number of the queue where there is one only.
const char* name_of(UnitKind kind) noexcept;
std::string name_of(const UnitAddress& address);

// Programs see the number of the unit where the core has its own id of the unit, so that the ids of
// a run do not depend on what else the process does.
constexpr nrta_seq_t outward_id(uint16_t unit_number, queue::SequenceId id) noexcept {
  return queue::sequence_of(unit_number, queue::counter_of(id));
}

}  // namespace millrace::nrt
