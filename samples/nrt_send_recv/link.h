// One way between core 0 of one process and core 1 of another, which is at the address `peer`.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "nrt/nrt_async_sendrecv.h"

typedef struct {
  bool sends;
  int core;  // of this process, by its number on the host
  nrt_async_sendrecv_comm_t* comm;
} peer_link;

// The core of the side that sends, and of the one that receives.
int core_of_side(bool sends);
// Waits until both sides are there. False, with a line on standard error, when a call fails.
bool open_link(bool sends, const char* peer, peer_link* opened);
// Sends or receives the first `size` bytes of the tensor, and waits for them.
bool move_tensor(const peer_link* over, nrt_tensor_t* tensor, size_t size);
bool close_link(const peer_link* closed);
