// Blocking collectives, and the calls that introduce ranks to each other. There is one rank.
#include <fmt/format.h>

#include <cstring>

#include "nrt/calls/call.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt {
namespace {

// Runs `body()` for a core of this process and the one rank.
template <class Body>
NRT_STATUS with_rank(const char* call, int64_t core, uint32_t rank, uint32_t ranks,
                     Body&& body) noexcept {
  return with_core(call, core, [&](Runtime&) {
    const NRT_STATUS status = check_rank(call, rank, ranks);
    return status == NRT_SUCCESS ? body() : status;
  });
}

NRT_STATUS nothing_to_do() noexcept {
  return NRT_SUCCESS;
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return with_rank("nrt_build_global_comm", vnc, g_device_id, g_device_count, nothing_to_do);
}

NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return with_rank("nrt_cc_global_comm_init", vnc, g_device_id, g_device_count, nothing_to_do);
}

NRT_STATUS nrt_cc_create_stream(uint32_t stream_id) {
  constexpr const char* kCall = "nrt_cc_create_stream";
  return with_runtime(kCall, [&](Runtime&) {
    constexpr uint32_t kStreams = queues_of(UnitKind::kCollectives);
    if (stream_id < kStreams) return NRT_SUCCESS;
    return report(kCall, NRT_RESOURCE,
                  fmt::format("there is no stream {}: a core has {}", stream_id, kStreams));
  });
}

NRT_STATUS nrt_barrier(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return with_rank("nrt_barrier", vnc, g_device_id, g_device_count, nothing_to_do);
}

NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_size, void* input, void* output) {
  constexpr const char* kCall = "nrt_all_gather";
  return with_rank(kCall, vnc, g_device_id, g_device_count, [&] {
    if (rank_input_size == 0) return NRT_SUCCESS;
    if (input == nullptr || output == nullptr)
      return report(kCall, NRT_INVALID, "a buffer is null");
    std::memmove(output, input, rank_input_size);  // they may be one buffer
    return NRT_SUCCESS;
  });
}

}  // extern "C"
