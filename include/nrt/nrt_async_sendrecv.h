// Tensors sent from one process to another, on one host or on two, over TCP.
//
// Core numbers are those of the host, independently of what is visible to the process. Core N is
// reached at port MILLRACE_NRT_SENDRECV_PORT + N. Thread-safe, and no call waits for a peer; a
// request or a communicator is tested by one thread at a time.
//
// A connection carries tensors one way, in the order of the calls: the first send fills the first
// receive. When it breaks, all its requests and later calls fail with NRT_FAILURE, and the log
// names the cores and the reason.
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

// How many connections a core may have until it is closed, and how many requests one may have that
// were not tested complete.
NRT_STATUS nrt_async_sendrecv_get_max_num_communicators_per_lnc(int* max_num_comms);
NRT_STATUS nrt_async_sendrecv_get_max_num_pending_request(int* max_num_requests);

// Opens a core for sends and receives, after nrt_init; closes it, before nrt_close, and ends all
// its connections and requests. NRT_FAILURE: a connection is neither complete nor failed, or a
// request is pending; the core stays open. NRT_INVALID: it is open already, or not open.
NRT_STATUS nrt_async_sendrecv_init(int lnc);
NRT_STATUS nrt_async_sendrecv_close(int lnc);

// Start a connection between core `lnc` and core `peer_lnc` of the host `peer_ip`, an IPv4 or IPv6
// address: the sender connects, the receiver accepts, in any order. Several connections between the
// same two cores are made in the order of the calls.
//   NRT_RESOURCE  the core has reached its limit of connections
//   NRT_FAILURE   the receiver's port is taken, or there is no way to the host
NRT_STATUS nrt_async_sendrecv_connect(const char* peer_ip, int peer_lnc, int lnc,
                                      nrt_async_sendrecv_comm_t** send_comm);
NRT_STATUS nrt_async_sendrecv_accept(const char* peer_ip, int peer_lnc, int lnc,
                                     nrt_async_sendrecv_comm_t** recv_comm);

// Whether the connection is complete. NRT_TIMEOUT: it was not within MILLRACE_NRT_SENDRECV_TIMEOUT.
NRT_STATUS nrt_async_sendrecv_test_comm(nrt_async_sendrecv_comm_t* comm, bool* done);

// Start the transfer of `length` bytes from `offset` on, over a complete connection. The storage of
// the tensor is kept until then. A receive may have room for more bytes than are sent. A send is
// complete when its bytes are on their way: the peer may not have received them yet.
// NRT_RESOURCE: the limit of requests is reached.
NRT_STATUS nrt_async_sendrecv_send_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* send_comm,
                                          nrt_async_sendrecv_request_t** request);
NRT_STATUS nrt_async_sendrecv_recv_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* recv_comm,
                                          nrt_async_sendrecv_request_t** request);

// Whether the transfer is complete, and how many bytes it moved; `size` may be NULL. Once it is, or
// has failed, `*done` is true and the request has ended: its handle is invalid from then on.
//   NRT_TIMEOUT  nothing has moved for NEURON_RT_EXEC_TIMEOUT seconds; the connection is given up
NRT_STATUS nrt_async_sendrecv_test_request(nrt_async_sendrecv_request_t* request, bool* done,
                                           size_t* size);

// When it returns, the bytes of all receives that tested complete are in the memory of core `lnc`.
NRT_STATUS nrt_async_sendrecv_flush(int lnc);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NRT_ASYNC_SENDRECV_H
