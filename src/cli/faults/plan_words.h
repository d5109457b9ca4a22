// Puts fault plans into plain sentences: what a text says, and what programs see of it.
// Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/faulty/fault_plan.h"
#include "device/faulty/fault_settings.h"

namespace millrace::cli {

// A part of the text of a plan, and the sentences that explain it.
struct ExplainedPart {
  std::string text;
  std::vector<std::string> sentences;
};

// Explains the settings, then each rule. Empty if the plan has no faults.
std::vector<ExplainedPart> explain(const device::FaultSettings& settings, device::Work work);

// Says what happens to a job with these faults, such as "takes 5 ms longer, then fails: ...";
// nothing if it has none.
std::optional<std::string> fate_of(const device::FrameFaults& faults);

}  // namespace millrace::cli
