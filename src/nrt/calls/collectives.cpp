// The blocking collectives of the NRT API (nrt_barrier, nrt_all_gather), and the calls by which the
// ranks of a program connect to each other (nrt_build_global_comm, nrt_cc_global_comm_init).
#include <fmt/format.h>

#include <cstring>

#include "nrt/calls/rank_call.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/terms/unit_address.h"

namespace millrace::nrt {
namespace {

// Connects this rank to the others; only the first call that names the rank does so.
NRT_STATUS join(const char* call, Runtime& runtime, LaunchedRank own) {
  if (own.ranks == 1) return NRT_SUCCESS;
  return report_rank_failure(call, runtime.ranks().join(own.rank, own.ranks));
}

// Runs `body(communicator, limit)` on the communicator of all ranks. Requirement: own.ranks > 1.
template <class Body>
NRT_STATUS on_all_ranks(const char* call, Runtime& runtime, LaunchedRank own, Body&& body) {
  const auto all = runtime.ranks().communicator(own.rank, own.ranks, RankWorld::Channel::kCalls);
  if (!all.ok()) return report_rank_failure(call, all.status());
  return report_rank_failure(call,
                             body(**all, ranks::Limit{kNoDeadline, &runtime.ranks().closing()}));
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  constexpr const char* kCall = "nrt_build_global_comm";
  return with_rank(kCall, vnc, g_device_id, g_device_count,
                   [&](Runtime& runtime, LaunchedRank own) { return join(kCall, runtime, own); });
}

NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  constexpr const char* kCall = "nrt_cc_global_comm_init";
  return with_rank(kCall, vnc, g_device_id, g_device_count,
                   [&](Runtime& runtime, LaunchedRank own) { return join(kCall, runtime, own); });
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
  constexpr const char* kCall = "nrt_barrier";
  return with_rank(
      kCall, vnc, g_device_id, g_device_count, [&](Runtime& runtime, LaunchedRank own) {
        if (own.ranks == 1) return NRT_SUCCESS;
        return on_all_ranks(kCall, runtime, own,
                            [](millrace::ranks::Communicator& all,
                               const millrace::ranks::Limit& limit) { return all.barrier(limit); });
      });
}

NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_size, void* input, void* output) {
  constexpr const char* kCall = "nrt_all_gather";
  const auto gather = [&](Runtime& runtime, LaunchedRank own) {
    if (rank_input_size == 0 && own.ranks == 1) return NRT_SUCCESS;
    if (rank_input_size != 0 && (input == nullptr || output == nullptr))
      return report(kCall, NRT_INVALID, "a buffer is null");
    if (own.ranks == 1) {
      std::memmove(output, input, rank_input_size);  // the two may overlap
      return NRT_SUCCESS;
    }
    return on_all_ranks(
        kCall, runtime, own,
        [&](millrace::ranks::Communicator& all, const millrace::ranks::Limit& limit) {
          return all.all_gather({static_cast<const std::byte*>(input), rank_input_size},
                                millrace::ranks::OutputBlocks(static_cast<std::byte*>(output),
                                                              rank_input_size, own.ranks),
                                limit);
        });
  };
  return with_rank(kCall, vnc, g_device_id, g_device_count, gather);
}

}  // extern "C"
