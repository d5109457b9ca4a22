// The failures that the text of a fault plan can name, in the words of the three APIs: the status
// codes of Millrace, those of the VART-ML API, and those of the NRT API by name or number. Each has
// a status code of Millrace, from which the other APIs make theirs; an NRT status arrives in the
// NRT API as it was named (src/nrt/requests/request_task.cpp).
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace millrace::device {

// Names a failure as the programs of each API see it.
struct FailureView {
  std::string_view vart;    // "RUNTIME_ERROR"
  std::string_view nrt;     // "NRT_HW_ERROR"
  uint32_t nrt_number = 0;  // 6
  bool degrades_unit = false;
};

// Reads a name or number into `failure`, and returns an empty text; otherwise returns why it is no
// failure of a device.
std::string read_failure(std::string_view text, Status& failure);

// Returns the NRT status that the text of a plan named for this failure; nullopt for any other
// failure. The message of the status identifies it.
std::optional<uint32_t> named_nrt_status(const Status& failure) noexcept;

// Requirement: read_failure has made the failure, or it is injected_failure().
FailureView view_of(const Status& failure) noexcept;

}  // namespace millrace::device
