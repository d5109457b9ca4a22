// Events that programs on a core send to a debugger. The software NPU sends none.
#ifndef NRT_NDEBUG_STREAM_H
#define NRT_NDEBUG_STREAM_H

#include <stdint.h>

#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ndebug_stream_event_type {
  NDEBUG_STREAM_EVENT_TYPE_INVALID = 0,
  NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ = 1
} ndebug_stream_event_type_t;

typedef struct ndebug_stream_event_header {
  uint64_t data_size;  // bytes of the payload
  uint32_t type;       // an ndebug_stream_event_type_t
  char reserved[52];
} ndebug_stream_event_header_t;

// C++ has arrays of open length as an extension only.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
// The payload of NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ.
typedef struct ndebug_stream_payload_debug_tensor_read {
  char prefix[512];
  uint32_t logical_nc_id;
  uint32_t pipe;
  char tensor_dtype[16];
  uint64_t tensor_shape[8];
  uint64_t tensor_data_size;  // bytes
  char reserved0[416];
  __extension__ char tensor_data[];
} ndebug_stream_payload_debug_tensor_read_t;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#pragma GCC visibility push(default)

// Connects to the events of core `logical_nc_idx`. `*stream_fd` becomes readable when there is an
// event; the library owns it. A core has one client: NRT_INVALID for a second.
NRT_STATUS nrt_debug_client_connect(int logical_nc_idx, int* stream_fd);
void nrt_debug_client_connect_close(int stream_fd);

// Takes one event. The caller frees the payload with free(). NRT_QUEUE_EMPTY: there is no event.
NRT_STATUS nrt_debug_client_read_one_event(int stream_fd, ndebug_stream_event_header_t* header,
                                           void** payload);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NDEBUG_STREAM_H
