// The calls by which programs learn that asynchronous requests have completed: polling, event file
// descriptors, and error trackers (the interface of SDK 2.28).
#include <fmt/format.h>

#include <span>

#include "base/polls.h"
#include "check/check.h"
#include "nrt/calls/async/poll.h"
#include "nrt/calls/call.h"
#include "nrt/nrt_async.h"
#include "nrt/objects/error_tracker.h"

namespace millrace::nrt {
namespace {

// Returns the unit that accepted the request; null for an id that was never issued.
RequestUnit* unit_of(Runtime& runtime, nrta_seq_t sequence) noexcept {
  RequestUnit* const unit = runtime.units().find(queue::unit_of(sequence));
  return unit != nullptr && unit->issued(sequence) ? unit : nullptr;
}

NRT_STATUS never_issued(const char* call, nrta_seq_t sequence) {
  return report(call, NRT_INVALID, fmt::format("no request was given the id {:#x}", sequence));
}

NRT_STATUS give_completion_handle(const char* call, nrta_seq_t sequence, int* fd) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    if (fd == nullptr) return report(call, NRT_INVALID, "the result pointer is null");
    RequestUnit* const unit = unit_of(runtime, sequence);
    if (unit == nullptr) return never_issued(call, sequence);
    trace::note_request(sequence);
    if (check::on()) [[unlikely]]
      check::note_asked_up_to(unit->inward(sequence));
    const Result<int> handle = unit->completion_handle(sequence);
    if (!handle.ok()) return report(call, NRT_RESOURCE, handle.status().message());
    *fd = *handle;
    return NRT_SUCCESS;
  });
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;
using millrace::Result;

extern "C" {

NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* is_completed) {
  return with_runtime("nrta_is_completed", [&](Runtime& runtime) {
    if (is_completed == nullptr) return NRT_INVALID;
    RequestUnit* const unit = unit_of(runtime, seq);
    *is_completed = unit != nullptr && unit->queue_unit().is_completed(unit->inward(seq));
    if (unit != nullptr) millrace::note_poll(unit->inward(seq), *is_completed);
    if (unit != nullptr && millrace::check::on()) [[unlikely]]
      *is_completed ? millrace::check::note_asked_up_to(unit->inward(seq))
                    : millrace::check::note_poll_of_pending();
    return unit != nullptr ? NRT_SUCCESS : NRT_INVALID;
  });
}

NRT_STATUS(nrta_get_sequence)(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq) {
  return last_completed(kKinds, lnc, xu, queue, seq);
}

NRT_STATUS nrta_event_register_seq_id_completion(nrta_seq_t seq, int fd) {
  constexpr const char* kCall = "nrta_event_register_seq_id_completion";
  return with_runtime(kCall, [&](Runtime& runtime) {
    RequestUnit* const unit = unit_of(runtime, seq);
    if (unit == nullptr) return never_issued(kCall, seq);
    trace::note_request(seq);
    if (millrace::check::on()) [[unlikely]]
      millrace::check::note_asked_up_to(unit->inward(seq));
    return report(kCall, unit->queue_unit().notify_fd(unit->inward(seq), fd));
  });
}

NRT_STATUS nrta_event_register_xu_completion(int lnc, nrta_xu_t xu, int queue, int fd) {
  constexpr const char* kCall = "nrta_event_register_xu_completion";
  return with_runtime(kCall, [&](Runtime& runtime) {
    const Result<UnitAddress> address =
        address_of(runtime, kKinds, static_cast<uint32_t>(lnc), xu, queue);
    if (!address.ok()) return report(kCall, address.status());
    trace::note_core(lnc);
    const Result<RequestUnit*> unit = runtime.units().use(*address);
    if (!unit.ok()) return report(kCall, unit.status());
    if (millrace::check::on()) [[unlikely]]
      millrace::check::note_unit_asked((*unit)->queue_unit().id());
    return report(kCall, (*unit)->queue_unit().notify_each_fd(fd));
  });
}

NRT_STATUS nrta_get_completion_handle(nrta_seq_t seq, int* fd) {
  return give_completion_handle("nrta_get_completion_handle", seq, fd);
}
NRT_STATUS nrta_mark(nrta_seq_t seq_num, int* event_fd) {
  return give_completion_handle("nrta_mark", seq_num, event_fd);
}

NRT_STATUS nrta_error_tracker_create(uint32_t lnc_idx, nrta_error_tracker_t** error_tracker) {
  constexpr const char* kCall = "nrta_error_tracker_create";
  return with_core(kCall, lnc_idx, [&](Runtime&) {
    if (error_tracker == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    trace::note_core(static_cast<int>(lnc_idx));
    *error_tracker = reinterpret_cast<nrta_error_tracker_t*>(
        TrackerHandles::of_process().make(std::make_shared<ErrorTracker>()));
    return NRT_SUCCESS;
  });
}

void nrta_error_tracker_destroy(nrta_error_tracker_t* error_tracker) {
  with_runtime("nrta_error_tracker_destroy", [&](Runtime&) {
    TrackerHandles::of_process().drop(to_handle(error_tracker));
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrta_error_tracker_get_list(nrta_error_tracker_t* error_tracker,
                                       const nrta_error_t** error_list, size_t* error_count) {
  constexpr const char* kCall = "nrta_error_tracker_get_list";
  return with_runtime(kCall, [&](Runtime&) {
    const std::shared_ptr<ErrorTracker>& tracker = TrackerHandles::find(to_handle(error_tracker));
    if (tracker == nullptr)
      return report(kCall, NRT_INVALID_HANDLE, "the error tracker is null or was destroyed");
    if (error_list == nullptr || error_count == nullptr)
      return report(kCall, NRT_INVALID, "a result pointer is null");
    const std::span<const nrta_error_t> errors = tracker->take();
    *error_list = errors.empty() ? nullptr : errors.data();
    *error_count = errors.size();
    return NRT_SUCCESS;
  });
}

}  // extern "C"
