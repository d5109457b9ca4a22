// The progress of units, by the numbers that programs use for units.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "nrt/nrt_async.h"
#include "nrt/process/runtime.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt {

// Kinds of units by their number `kind`: SDK 2.28 knew five of them, later clients know three.
inline constexpr std::array kKindsOf228 = {UnitKind::kRead, UnitKind::kWrite, UnitKind::kOp,
                                           UnitKind::kCompute, UnitKind::kCollectives};
inline constexpr std::array kKinds = {UnitKind::kOp, UnitKind::kCompute, UnitKind::kCollectives};

// kInvalidArgument for a unit that does not exist.
Result<UnitAddress> address_of(Runtime& runtime, std::span<const UnitKind> kinds, uint32_t core,
                               uint32_t kind, int queue);

// nrta_get_sequence.
NRT_STATUS last_completed(std::span<const UnitKind> kinds, uint32_t core, uint32_t kind, int queue,
                          nrta_seq_t* sequence) noexcept;

}  // namespace millrace::nrt
