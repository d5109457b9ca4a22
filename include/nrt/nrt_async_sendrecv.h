// Tensors sent from one process to another.
//
// Core numbers are those of the host, independently of what is visible to the process. Thread-safe;
// sends and receives do not block. The software NPU does not connect processes: cores can be opened
// and closed, but connect and accept return NRT_FAILURE. So no connection exists, and calls with a
// handle return NRT_INVALID_HANDLE.
#ifndef NRT_NRT_ASYNC_SENDRECV_H
#define NRT_NRT_ASYNC_SENDRECV_H

#include <stdbool.h>
#include <stddef.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nrt_async_sendrecv_comm nrt_async_sendrecv_comm_t;        // a connection
typedef struct nrt_async_sendrecv_request nrt_async_sendrecv_request_t;  // a transfer on its way

#pragma GCC visibility push(default)

// How many connections a core may have, and how many requests may be pending on one.
NRT_STATUS nrt_async_sendrecv_get_max_num_communicators_per_lnc(int* max_num_comms);
NRT_STATUS nrt_async_sendrecv_get_max_num_pending_request(int* max_num_requests);

// Opens a core for sends and receives, after nrt_init; closes it, before nrt_close. Closing fails
// while a connection is not complete or a request is pending, and ends all its objects.
NRT_STATUS nrt_async_sendrecv_init(int lnc);
NRT_STATUS nrt_async_sendrecv_close(int lnc);

// Start a connection between core `lnc` and core `peer_lnc` of the host `peer_ip`: the sender
// connects, the receiver accepts. NRT_RESOURCE: the core has reached its limit of connections.
NRT_STATUS nrt_async_sendrecv_connect(const char* peer_ip, int peer_lnc, int lnc,
                                      nrt_async_sendrecv_comm_t** send_comm);
NRT_STATUS nrt_async_sendrecv_accept(const char* peer_ip, int peer_lnc, int lnc,
                                     nrt_async_sendrecv_comm_t** recv_comm);

// Whether the connection is complete.
NRT_STATUS nrt_async_sendrecv_test_comm(nrt_async_sendrecv_comm_t* comm, bool* done);

// Start the transfer of `length` bytes from `offset` on. NRT_RESOURCE: the limit of pending
// requests is reached.
NRT_STATUS nrt_async_sendrecv_send_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* send_comm,
                                          nrt_async_sendrecv_request_t** request);
NRT_STATUS nrt_async_sendrecv_recv_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* recv_comm,
                                          nrt_async_sendrecv_request_t** request);

// Whether the transfer is complete, and its bytes. Once it is, the request has ended. One thread at
// a time tests a request.
NRT_STATUS nrt_async_sendrecv_test_request(nrt_async_sendrecv_request_t* request, bool* done,
                                           size_t* size);

// When it returns, the bytes of all receives that tested complete are in the memory of core `lnc`.
NRT_STATUS nrt_async_sendrecv_flush(int lnc);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NRT_ASYNC_SENDRECV_H
