#include "nrt/trace/event_type.h"

namespace millrace::nrt::trace {
namespace {

constexpr const char* kNames[] = {
    "nc_exec_running",
    "tensor_read_running",
    "tensor_write_running",
    "tensor_copy_running",
    "cc_running",
    // Calls. Polling calls are not recorded, since they would displace all other events.
    "nrt_init",
    "nrt_close",
    "nrt_load",
    "nrt_load_collectives",
    "nrt_unload",
    "nrt_get_model_info",
    "nrt_get_model_tensor_info",
    "nrt_free_model_tensor_info",
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
    "nrt_tensor_check_output_completion",
    "nrt_tensor_reset_output_completion",
    "nrt_memcpy_to_device",
    "nrt_pinned_malloc",
    "nrt_pinned_free",
    "nrt_allocate_tensor_set",
    "nrt_destroy_tensor_set",
    "nrt_add_tensor_to_tensor_set",
    "nrt_get_tensor_from_tensor_set",
    "nrta_execute_schedule",
    "nrta_tensor_read",
    "nrta_tensor_write",
    "nrta_tensor_copy",
    "nrta_event_register_seq_id_completion",
    "nrta_event_register_xu_completion",
    "nrta_get_completion_handle",
    "nrta_mark",
    "nrta_error_tracker_create",
    "nrta_error_tracker_destroy",
    "nrt_async_drain_queued_execs",
    "nrt_build_global_comm",
    "nrt_cc_global_comm_init",
    "nrt_cc_create_stream",
    "nrta_cc_prepare",
    "nrta_cc_schedule",
    "nrt_barrier",
    "nrt_all_gather",
    "nrt_async_sendrecv_init",
    "nrt_async_sendrecv_close",
    "nrt_async_sendrecv_connect",
    "nrt_async_sendrecv_accept",
    "nrt_async_sendrecv_send_tensor",
    "nrt_async_sendrecv_recv_tensor",
    // Steps of the vendor's driver. Programs may select these types; such events never occur here.
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

EventTypes hardware_event_types() noexcept {
  EventTypes types;
  for (EventType type = 0; type < kEventTypes; ++type) types[type] = is_run(type);
  for (const char* const step : {"cc_exec_barrier", "nc_model_switch", "timestamp_sync_point"})
    if (const std::optional<EventType> type = event_type_named(step)) types.set(*type);
  return types;
}

}  // namespace millrace::nrt::trace
