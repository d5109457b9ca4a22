// nrt_async_sendrecv_*: asynchronous sends and receives of tensors between cores, of the same or
// other processes and hosts. These functions check arguments and handles; sendrecv::Service does
// the work. A program polls for completion with the nrt_async_sendrecv_test_ calls.
#include "nrt/sendrecv/service.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "nrt/calls/call.h"
#include "nrt/nrt_async_sendrecv.h"

namespace millrace::nrt {
namespace {

using sendrecv::Communicator;
using sendrecv::CommunicatorHandles;
using sendrecv::Request;
using sendrecv::RequestHandles;
using sendrecv::Side;

constexpr std::string_view kNoCommunicator = "the communicator is null or was closed";

NRT_STATUS give_limit(const char* call, size_t limit, int* out) noexcept {
  return with_runtime(call, [&](Runtime&) {
    if (out == nullptr) return report(call, NRT_INVALID, "the result pointer is null");
    *out = static_cast<int>(limit);
    return NRT_SUCCESS;
  });
}

NRT_STATUS begin_connection(const char* call, Side side, const char* peer_ip, int peer_core,
                            int core, nrt_async_sendrecv_comm_t** comm) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    if (peer_ip == nullptr || comm == nullptr)
      return report(call, NRT_INVALID, "an argument is null");
    const Result<std::shared_ptr<Communicator>> begun =
        runtime.send_receive().begin(side, peer_ip, peer_core, core);
    if (!begun.ok()) return report(call, begun.status());
    *comm = (*begun)->handle = CommunicatorHandles::of_process().make(*begun);
    return NRT_SUCCESS;
  });
}

// Checks the direction, the range and the state of the communicator for a transfer.
Status check_transfer(const Communicator& communicator, Side side, const Tensor& tensor,
                      size_t offset, size_t bytes) {
  if (communicator.route().side != side)
    return invalid_argument(fmt::format("the communicator is for {}: {}",
                                        side == Side::kSend ? "receives" : "sends",
                                        communicator.name()));
  MILLRACE_RETURN_IF_ERROR(tensor.check_range(offset, bytes));
  if (communicator.state() == Communicator::State::kConnecting)
    return invalid_argument(communicator.name() +
                            " is not connected yet: nrt_async_sendrecv_test_comm tells when it is");
  return communicator.failure();
}

// Owns a reserved request and releases it in the destructor, unless keep() was called.
class Reservation {
 public:
  explicit Reservation(const std::shared_ptr<Communicator>& communicator)
      : communicator_(communicator), request_(communicator->reserve()) {}
  ~Reservation() {
    if (request_ != nullptr) communicator_->release(*request_);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  Request* request() const noexcept { return request_; }
  void keep() noexcept { request_ = nullptr; }

 private:
  const std::shared_ptr<Communicator>& communicator_;
  Request* request_;
};

NRT_STATUS begin_transfer(const char* call, Side side, nrt_tensor_t* tensor, size_t offset,
                          size_t bytes, nrt_async_sendrecv_comm_t* comm,
                          nrt_async_sendrecv_request_t** result) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    const std::shared_ptr<Communicator>& communicator = CommunicatorHandles::find(comm);
    if (communicator == nullptr) return report(call, NRT_INVALID_HANDLE, kNoCommunicator);
    const std::shared_ptr<Tensor>& moved = TensorHandles::find(tensor);
    if (moved == nullptr) return report(call, NRT_INVALID_HANDLE, kNoTensor);
    if (result == nullptr) return report(call, NRT_INVALID, "the result pointer is null");
    if (const Status fits = check_transfer(*communicator, side, *moved, offset, bytes); !fits.ok())
      return report(call, fits);
    Reservation reservation(communicator);
    Request* const request = reservation.request();
    if (request == nullptr)
      return report(call, NRT_RESOURCE,
                    fmt::format("{} has {} requests already", communicator->name(),
                                Communicator::kMostRequests));
    request->data = moved->data() + offset;
    request->bytes = bytes;
    request->storage = moved->storage();
    request->access = moved->access(offset, bytes);
    request->posted_ns = now_ns();
    request->handle = RequestHandles::of_process().make({communicator, request});
    reservation.keep();
    *result = request->handle;
    runtime.send_receive().post(*request);
    return NRT_SUCCESS;
  });
}

NRT_STATUS status_of(const char* call, const Communicator& communicator, bool* done) {
  if (communicator.state() == Communicator::State::kFailed)
    return report(call, communicator.failure());
  *done = communicator.state() == Communicator::State::kConnected;
  return NRT_SUCCESS;
}

// Returns the result of a completed request, and releases the request and its handle.
NRT_STATUS collect(const char* call, Request& request, bool* done, size_t* size) {
  *done = true;
  if (size != nullptr) *size = request.moved;
  const Status result = request.result;
  const std::shared_ptr<Request> kept = RequestHandles::of_process().drop(request.handle);
  request.owner->release(request);
  return report(call, result);
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;
using millrace::Status;

extern "C" {

NRT_STATUS nrt_async_sendrecv_get_max_num_communicators_per_lnc(int* max_num_comms) {
  return give_limit("nrt_async_sendrecv_get_max_num_communicators_per_lnc",
                    sendrecv::Service::kMostCommunicators, max_num_comms);
}
NRT_STATUS nrt_async_sendrecv_get_max_num_pending_request(int* max_num_requests) {
  return give_limit("nrt_async_sendrecv_get_max_num_pending_request", Communicator::kMostRequests,
                    max_num_requests);
}

NRT_STATUS nrt_async_sendrecv_init(int lnc) {
  constexpr const char* kCall = "nrt_async_sendrecv_init";
  return with_runtime(
      kCall, [&](Runtime& runtime) { return report(kCall, runtime.send_receive().open(lnc)); });
}
NRT_STATUS nrt_async_sendrecv_close(int lnc) {
  constexpr const char* kCall = "nrt_async_sendrecv_close";
  return with_runtime(kCall, [&](Runtime& runtime) {
    const Status closed = runtime.send_receive().close(lnc);
    return closed.code() == millrace::StatusCode::kBusy
               ? report(kCall, NRT_FAILURE, closed.message())
               : report(kCall, closed);
  });
}

NRT_STATUS nrt_async_sendrecv_connect(const char* peer_ip, int peer_lnc, int lnc,
                                      nrt_async_sendrecv_comm_t** send_comm) {
  return begin_connection("nrt_async_sendrecv_connect", Side::kSend, peer_ip, peer_lnc, lnc,
                          send_comm);
}
NRT_STATUS nrt_async_sendrecv_accept(const char* peer_ip, int peer_lnc, int lnc,
                                     nrt_async_sendrecv_comm_t** recv_comm) {
  return begin_connection("nrt_async_sendrecv_accept", Side::kReceive, peer_ip, peer_lnc, lnc,
                          recv_comm);
}

NRT_STATUS nrt_async_sendrecv_test_comm(nrt_async_sendrecv_comm_t* comm, bool* done) {
  constexpr const char* kCall = "nrt_async_sendrecv_test_comm";
  return with_runtime(kCall, [&](Runtime&) {
    const std::shared_ptr<Communicator>& communicator = CommunicatorHandles::find(comm);
    if (communicator == nullptr) return report(kCall, NRT_INVALID_HANDLE, kNoCommunicator);
    if (done == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    return status_of(kCall, *communicator, done);
  });
}

NRT_STATUS nrt_async_sendrecv_send_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* send_comm,
                                          nrt_async_sendrecv_request_t** request) {
  return begin_transfer("nrt_async_sendrecv_send_tensor", Side::kSend, tensor, offset, length,
                        send_comm, request);
}
NRT_STATUS nrt_async_sendrecv_recv_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* recv_comm,
                                          nrt_async_sendrecv_request_t** request) {
  return begin_transfer("nrt_async_sendrecv_recv_tensor", Side::kReceive, tensor, offset, length,
                        recv_comm, request);
}

NRT_STATUS nrt_async_sendrecv_test_request(nrt_async_sendrecv_request_t* request, bool* done,
                                           size_t* size) {
  constexpr const char* kCall = "nrt_async_sendrecv_test_request";
  return with_runtime(kCall, [&](Runtime& runtime) {
    const std::shared_ptr<Request> found = RequestHandles::find(request);
    if (found == nullptr)
      return report(kCall, NRT_INVALID_HANDLE,
                    "the request is null, or was tested complete already");
    if (done == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    if (!found->done()) runtime.send_receive().give_up_if_overdue(*found);
    if (found->done()) return collect(kCall, *found, done, size);
    *done = false;
    return NRT_SUCCESS;
  });
}

// Has nothing to flush: a receive that tested complete has its bytes in memory, since the service's
// thread publishes the completion (release) after it has stored them.
NRT_STATUS nrt_async_sendrecv_flush(int lnc) {
  constexpr const char* kCall = "nrt_async_sendrecv_flush";
  return with_runtime(kCall, [&](Runtime& runtime) {
    return report(kCall, runtime.send_receive().check_open(lnc));
  });
}

}  // extern "C"
