// nrt_debug_client_*: the debug stream of a core. The software NPU produces no debug events, so
// reading a stream always returns NRT_QUEUE_EMPTY.
#include <fmt/format.h>

#include "nrt/calls/call.h"
#include "nrt/ndebug_stream.h"

namespace millrace::nrt {
namespace {

NRT_STATUS no_such_stream(const char* call, int fd) {
  return report(call, NRT_INVALID, fmt::format("file descriptor {} is not a debug stream", fd));
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_debug_client_connect(int logical_nc_idx, int* stream_fd) {
  constexpr const char* kCall = "nrt_debug_client_connect";
  return with_core(kCall, logical_nc_idx, [&](Runtime& runtime) {
    if (stream_fd == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    const millrace::Result<int> stream = runtime.debug_streams().connect(logical_nc_idx);
    if (!stream.ok()) return report(kCall, stream.status());
    *stream_fd = *stream;
    return NRT_SUCCESS;
  });
}

void nrt_debug_client_connect_close(int stream_fd) {
  constexpr const char* kCall = "nrt_debug_client_connect_close";
  with_runtime(kCall, [&](Runtime& runtime) {
    return runtime.debug_streams().disconnect(stream_fd) ? NRT_SUCCESS
                                                         : no_such_stream(kCall, stream_fd);
  });
}

NRT_STATUS nrt_debug_client_read_one_event(int stream_fd, ndebug_stream_event_header_t* header,
                                           void** payload) {
  constexpr const char* kCall = "nrt_debug_client_read_one_event";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (header == nullptr || payload == nullptr)
      return report(kCall, NRT_INVALID, "a result pointer is null");
    if (!runtime.debug_streams().is_connected(stream_fd)) return no_such_stream(kCall, stream_fd);
    return NRT_QUEUE_EMPTY;
  });
}

}  // extern "C"
