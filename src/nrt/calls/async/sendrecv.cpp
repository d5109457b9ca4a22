// Sends and receives between processes. Cores can be opened and closed, but not connected:
// communicators and requests never exist, so every handle to one is invalid.
#include <fmt/format.h>

#include "nrt/calls/call.h"
#include "nrt/nrt_async_sendrecv.h"

namespace millrace::nrt {
namespace {

// The limits that programs are given.
constexpr int kMostCommunicators = 64;
constexpr int kMostPendingRequests = 1024;

NRT_STATUS give_limit(const char* call, int limit, int* out) noexcept {
  return with_runtime(call, [&](Runtime&) {
    if (out == nullptr) return report(call, NRT_INVALID, "the result pointer is null");
    *out = limit;
    return NRT_SUCCESS;
  });
}

// Checks the arguments of a connection, which then fails.
NRT_STATUS begin_connection(const char* call, const char* peer_ip, int peer_core, int core,
                            nrt_async_sendrecv_comm_t** comm) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    if (peer_ip == nullptr || comm == nullptr)
      return report(call, NRT_INVALID, "an argument is null");
    if (peer_core < 0)
      return report(call, NRT_INVALID, fmt::format("there is no core {}", peer_core));
    if (const Status open = runtime.send_recv_cores().check_open(core); !open.ok())
      return report(call, open);
    return report(call, NRT_FAILURE,
                  fmt::format("core {} of {} cannot be reached: the software NPU does not connect "
                              "processes",
                              peer_core, peer_ip));
  });
}

NRT_STATUS no_such_object(const char* call, const char* what) noexcept {
  return with_runtime(call, [&](Runtime&) {
    return report(call, NRT_INVALID_HANDLE, fmt::format("there is no such {}", what));
  });
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_async_sendrecv_get_max_num_communicators_per_lnc(int* max_num_comms) {
  return give_limit("nrt_async_sendrecv_get_max_num_communicators_per_lnc", kMostCommunicators,
                    max_num_comms);
}
NRT_STATUS nrt_async_sendrecv_get_max_num_pending_request(int* max_num_requests) {
  return give_limit("nrt_async_sendrecv_get_max_num_pending_request", kMostPendingRequests,
                    max_num_requests);
}

NRT_STATUS nrt_async_sendrecv_init(int lnc) {
  constexpr const char* kCall = "nrt_async_sendrecv_init";
  return with_runtime(
      kCall, [&](Runtime& runtime) { return report(kCall, runtime.send_recv_cores().open(lnc)); });
}
NRT_STATUS nrt_async_sendrecv_close(int lnc) {
  constexpr const char* kCall = "nrt_async_sendrecv_close";
  return with_runtime(
      kCall, [&](Runtime& runtime) { return report(kCall, runtime.send_recv_cores().close(lnc)); });
}

NRT_STATUS nrt_async_sendrecv_connect(const char* peer_ip, int peer_lnc, int lnc,
                                      nrt_async_sendrecv_comm_t** send_comm) {
  return begin_connection("nrt_async_sendrecv_connect", peer_ip, peer_lnc, lnc, send_comm);
}
NRT_STATUS nrt_async_sendrecv_accept(const char* peer_ip, int peer_lnc, int lnc,
                                     nrt_async_sendrecv_comm_t** recv_comm) {
  return begin_connection("nrt_async_sendrecv_accept", peer_ip, peer_lnc, lnc, recv_comm);
}

NRT_STATUS nrt_async_sendrecv_test_comm(nrt_async_sendrecv_comm_t*, bool*) {
  return no_such_object("nrt_async_sendrecv_test_comm", "communicator");
}
NRT_STATUS nrt_async_sendrecv_send_tensor(nrt_tensor_t*, size_t, size_t, nrt_async_sendrecv_comm_t*,
                                          nrt_async_sendrecv_request_t**) {
  return no_such_object("nrt_async_sendrecv_send_tensor", "communicator");
}
NRT_STATUS nrt_async_sendrecv_recv_tensor(nrt_tensor_t*, size_t, size_t, nrt_async_sendrecv_comm_t*,
                                          nrt_async_sendrecv_request_t**) {
  return no_such_object("nrt_async_sendrecv_recv_tensor", "communicator");
}
NRT_STATUS nrt_async_sendrecv_test_request(nrt_async_sendrecv_request_t*, bool*, size_t*) {
  return no_such_object("nrt_async_sendrecv_test_request", "request");
}

NRT_STATUS nrt_async_sendrecv_flush(int lnc) {
  constexpr const char* kCall = "nrt_async_sendrecv_flush";
  return with_runtime(kCall, [&](Runtime& runtime) {
    return report(kCall, runtime.send_recv_cores().check_open(lnc));
  });
}

}  // extern "C"
