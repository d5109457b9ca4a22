#include "nrt/trace/event_type.h"

namespace millrace::nrt::trace {
namespace {

constexpr const char* kNames[] = {
    "nc_exec_running",
    "tensor_read_running",
    "tensor_write_running",
    "tensor_copy_running",
    "cc_running",
    // Calls.
    "nrt_load",
    "nrt_load_collectives",
    "nrt_unload",
    "nrt_execute",
    "nrt_execute_repeat",
    "nrt_tensor_allocate",
    "nrt_tensor_allocate_empty",
    "nrt_tensor_allocate_slice",
    "nrt_tensor_attach_buffer",
    "nrt_tensor_free",
    "nrt_tensor_read",
    "nrt_tensor_read_batch",
    "nrt_tensor_write",
    "nrt_tensor_write_batch",
    "nrt_tensor_copy",
    "nrt_tensor_memset",
    "nrta_execute_schedule",
    "nrta_tensor_read",
    "nrta_tensor_write",
    "nrta_tensor_copy",
    "nrta_cc_prepare",
    "nrta_cc_schedule",
    "nrt_barrier",
    "nrt_all_gather",
    // Steps of the vendor's driver that programs may ask for, and which do not occur here.
    "nrt_model_submit",
    "kbl_exec_pre",
    "kbl_exec_post",
    "kbl_exec_wait",
    "cc_exec_barrier",
    "nc_model_switch",
    "timestamp_sync_point",
};
static_assert(std::size(kNames) == kEventTypes);
static_assert(std::string_view(kNames[kExecRunning]) == "nc_exec_running");
static_assert(std::string_view(kNames[kCollectiveRunning]) == "cc_running");

}  // namespace

std::span<const char* const, kEventTypes> event_type_names() noexcept {
  return kNames;
}

std::optional<EventType> event_type_named(std::string_view name) noexcept {
  for (size_t type = 0; type < kEventTypes; ++type)
    if (name == kNames[type]) return static_cast<EventType>(type);
  return std::nullopt;
}

}  // namespace millrace::nrt::trace
