#include "link.h"

#include <time.h>

#include "model.h"

// The program has nothing else to do; another one would do it here and ask later.
static void wait_a_moment(void) {
  const struct timespec moment = {.tv_nsec = 20 * 1000};
  nanosleep(&moment, NULL);
}

int core_of_side(bool sends) {
  return sends ? 0 : 1;
}

static bool begin(const char* peer, peer_link* link) {
  const int peer_core = core_of_side(!link->sends);
  return link->sends
             ? succeeded(nrt_async_sendrecv_connect(peer, peer_core, link->core, &link->comm),
                         "nrt_async_sendrecv_connect")
             : succeeded(nrt_async_sendrecv_accept(peer, peer_core, link->core, &link->comm),
                         "nrt_async_sendrecv_accept");
}

bool open_link(bool sends, const char* peer, peer_link* opened) {
  *opened = (peer_link){sends, core_of_side(sends), NULL};
  if (!succeeded(nrt_async_sendrecv_init(opened->core), "nrt_async_sendrecv_init") ||
      !begin(peer, opened))
    return false;
  for (bool done = false; !done; wait_a_moment())
    if (!succeeded(nrt_async_sendrecv_test_comm(opened->comm, &done),
                   "nrt_async_sendrecv_test_comm"))
      return false;
  return true;
}

bool move_tensor(const peer_link* over, nrt_tensor_t* tensor, size_t size) {
  nrt_async_sendrecv_request_t* request = NULL;
  const NRT_STATUS begun =
      over->sends ? nrt_async_sendrecv_send_tensor(tensor, 0, size, over->comm, &request)
                  : nrt_async_sendrecv_recv_tensor(tensor, 0, size, over->comm, &request);
  if (!succeeded(begun, "starting the transfer")) return false;
  size_t moved = 0;
  for (bool done = false; !done; wait_a_moment())
    if (!succeeded(nrt_async_sendrecv_test_request(request, &done, &moved),
                   "nrt_async_sendrecv_test_request"))
      return false;
  return moved == size;
}

bool close_link(const peer_link* closed) {
  return succeeded(nrt_async_sendrecv_close(closed->core), "nrt_async_sendrecv_close");
}
