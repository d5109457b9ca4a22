// A failure that was named by an NRT status has that name in its message, which is how the NRT API
// recognises it: statuses have no room for codes of others.
#include "device/faulty/failure_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/settings/environment.h"
#include "device/faulty/fault_plan.h"

namespace millrace::device {
namespace {

// The codes of Millrace with which a device may end its work, and what the other APIs make of them
// (src/vart/status_code.cpp, src/nrt/requests/request_task.cpp). The codes that are not here come
// from a queue or a call, so a caller would misinterpret them.
struct OwnFailure {
  StatusCode code;
  std::string_view vart;
  std::string_view nrt;
};
constexpr std::array kOwnFailures = {
    OwnFailure{StatusCode::kDeviceFailed, "RUNTIME_ERROR", "NRT_HW_ERROR"},
    OwnFailure{StatusCode::kInternal, "RUNTIME_ERROR", "NRT_EXEC_COMPLETED_WITH_ERR"},
    OwnFailure{StatusCode::kOutOfMemory, "OUT_OF_MEMORY", "NRT_RESOURCE"},
    OwnFailure{StatusCode::kInvalidArgument, "INVALID_INPUT", "NRT_EXEC_OOB"},
    OwnFailure{StatusCode::kUnsupported, "RUNTIME_ERROR", "NRT_INVALID"},
    OwnFailure{StatusCode::kCorruptData, "RUNTIME_ERROR", "NRT_EXEC_COMPLETED_WITH_NUM_ERR"},
    OwnFailure{StatusCode::kNotFound, "RUNTIME_ERROR", "NRT_INVALID"},
    OwnFailure{StatusCode::kIoError, "RUNTIME_ERROR", "NRT_FAILURE"},
    OwnFailure{StatusCode::kHung, "RUNTIME_ERROR", "NRT_TIMEOUT"},
    OwnFailure{StatusCode::kDeadlineExceeded, "FAILURE", "NRT_TIMEOUT"},
};

// The codes of VART-ML that jobs may end with. OUT_OF_MEMORY is in both lists.
struct VartFailure {
  std::string_view name;
  StatusCode code;
};
constexpr std::array kVartFailures = {
    VartFailure{"FAILURE", StatusCode::kDeadlineExceeded},
    VartFailure{"INVALID_INPUT", StatusCode::kInvalidArgument},
    VartFailure{"RUNTIME_ERROR", StatusCode::kInternal},
};

// The statuses of NRT that executions and transfers may end with, and the codes that are nearest.
// The number of an NRT status never changes.
struct NrtFailure {
  uint32_t number;
  std::string_view name;
  StatusCode code;
};
constexpr std::array kNrtFailures = {
    NrtFailure{1, "NRT_FAILURE", StatusCode::kIoError},
    NrtFailure{2, "NRT_INVALID", StatusCode::kInvalidArgument},
    NrtFailure{4, "NRT_RESOURCE", StatusCode::kOutOfMemory},
    NrtFailure{5, "NRT_TIMEOUT", StatusCode::kHung},
    NrtFailure{6, "NRT_HW_ERROR", StatusCode::kDeviceFailed},
    NrtFailure{101, "NRT_EXEC_UNIT_UNRECOVERABLE", StatusCode::kDeviceFailed},
    NrtFailure{1002, "NRT_EXEC_BAD_INPUT", StatusCode::kInvalidArgument},
    NrtFailure{1003, "NRT_EXEC_COMPLETED_WITH_NUM_ERR", StatusCode::kCorruptData},
    NrtFailure{1004, "NRT_EXEC_COMPLETED_WITH_ERR", StatusCode::kInternal},
    NrtFailure{1006, "NRT_EXEC_OOB", StatusCode::kInvalidArgument},
    NrtFailure{1200, "NRT_EXEC_HW_ERR_COLLECTIVES", StatusCode::kDeviceFailed},
    NrtFailure{1201, "NRT_EXEC_HW_ERR_HBM_UE", StatusCode::kDeviceFailed},
    NrtFailure{1202, "NRT_EXEC_HW_ERR_NC_UE", StatusCode::kDeviceFailed},
    NrtFailure{1203, "NRT_EXEC_HW_ERR_DMA_ABORT", StatusCode::kDeviceFailed},
    NrtFailure{1204, "NRT_EXEC_SW_NQ_OVERFLOW", StatusCode::kDeviceFailed},
    NrtFailure{1205, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE", StatusCode::kDeviceFailed},
    NrtFailure{1206, "NRT_NETWORK_PROXY_FAILURE", StatusCode::kDeviceFailed},
};

std::string message_of(const NrtFailure& failure) {
  return fmt::format(
      "an injected fault ({}), of MILLRACE_FAULTS or of the program's own fault plan",
      failure.name);
}

// Made once, since named_nrt_status() compares with them and may not allocate.
const std::array<std::string, kNrtFailures.size()>& messages() {
  static const auto* const made = [] {
    auto* const texts = new std::array<std::string, kNrtFailures.size()>;
    std::ranges::transform(kNrtFailures, texts->begin(), message_of);
    return texts;
  }();
  return *made;
}

template <class List>
std::string names_of(const List& failures, auto name) {
  std::string names;
  for (const auto& failure : failures)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(failure));
  return names;
}

}  // namespace

std::string read_failure(std::string_view text, Status& failure) {
  for (const OwnFailure& own : kOwnFailures) {
    if (text != to_string(own.code)) continue;
    failure = Status(own.code, injected_failure().message());
    return {};
  }
  for (const VartFailure& vart : kVartFailures) {
    if (text != vart.name) continue;
    failure = Status(vart.code, injected_failure().message());
    return {};
  }
  const Result<uint64_t> number = parse_number(text);
  for (size_t i = 0; i < kNrtFailures.size(); ++i) {
    const NrtFailure& nrt = kNrtFailures[i];
    if (text != nrt.name && !(number.ok() && *number == nrt.number)) continue;
    failure = Status(nrt.code, messages()[i]);
    return {};
  }
  return fmt::format(
      "is not the status of a failure; these are {}; of VART {}; of NRT, by name or number, {}",
      names_of(kOwnFailures, [](const OwnFailure& own) { return to_string(own.code); }),
      names_of(kVartFailures, [](const VartFailure& vart) { return vart.name; }),
      names_of(kNrtFailures,
               [](const NrtFailure& nrt) { return fmt::format("{} ({})", nrt.name, nrt.number); }));
}

std::optional<uint32_t> named_nrt_status(const Status& failure) noexcept {
  // Layers between the device and the API may have put context before the message. So has a unit
  // that the failure has degraded, but its refusals have a code of their own.
  const std::string& message = failure.message();
  if (message.find("an injected fault (") == std::string::npos) return std::nullopt;
  for (size_t i = 0; i < kNrtFailures.size(); ++i)
    if (failure.code() == kNrtFailures[i].code && message.ends_with(messages()[i]))
      return kNrtFailures[i].number;
  return std::nullopt;
}

FailureView view_of(const Status& failure) noexcept {
  FailureView view{.vart = "RUNTIME_ERROR", .nrt = "NRT_FAILURE", .nrt_number = 1};
  const auto* const own = std::ranges::find(kOwnFailures, failure.code(), &OwnFailure::code);
  if (own != kOwnFailures.end()) {
    view.vart = own->vart;
    view.nrt = own->nrt;
  }
  view.degrades_unit =
      failure.code() == StatusCode::kDeviceFailed || failure.code() == StatusCode::kHung;
  const std::optional<uint32_t> named = named_nrt_status(failure);
  const auto* const nrt = named ? std::ranges::find(kNrtFailures, *named, &NrtFailure::number)
                                : std::ranges::find(kNrtFailures, view.nrt, &NrtFailure::name);
  if (nrt != kNrtFailures.end()) {
    view.nrt = nrt->name;
    view.nrt_number = nrt->number;
  }
  return view;
}

}  // namespace millrace::device
