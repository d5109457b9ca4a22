// nrta_get_sequence: the id of the last completed request of a unit, which programs name by core,
// kind and queue.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "nrt/nrt_async.h"
#include "nrt/process/runtime.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt {

// The kinds of units, indexed by the number that programs pass: five in SDK 2.28, three in later
// ones.
inline constexpr std::array kKindsOf228 = {UnitKind::kRead, UnitKind::kWrite, UnitKind::kOp,
                                           UnitKind::kCompute, UnitKind::kCollectives};
inline constexpr std::array kKinds = {UnitKind::kOp, UnitKind::kCompute, UnitKind::kCollectives};

// Translates the numbers that a program passes. kInvalidArgument for a unit that does not exist.
Result<UnitAddress> address_of(Runtime& runtime, std::span<const UnitKind> kinds, uint32_t core,
                               uint32_t kind, int queue);

// Implements nrta_get_sequence: sets `sequence` to the id of the last completed request, whose
// counter is 0 when none has completed.
NRT_STATUS last_completed(std::span<const UnitKind> kinds, uint32_t core, uint32_t kind, int queue,
                          nrta_seq_t* sequence) noexcept;

}  // namespace millrace::nrt
