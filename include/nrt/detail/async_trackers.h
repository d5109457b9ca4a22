// The error trackers and completion handles of nrt_async.h. Include nrt/nrt_async.h instead.
#ifndef NRT_DETAIL_ASYNC_TRACKERS_H
#define NRT_DETAIL_ASYNC_TRACKERS_H

#include <stddef.h>

#include "nrt/nrt_async.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

// Makes a tracker for requests of all units of core `lnc_idx`. The caller destroys it.
NRT_STATUS nrta_error_tracker_create(uint32_t lnc_idx, nrta_error_tracker_t** error_tracker);

// Ends the handle. Pending requests of the tracker still run; their errors are lost. Accepts NULL.
void nrta_error_tracker_destroy(nrta_error_tracker_t* error_tracker);

// The requests that failed since the previous call, in the order of completion; each is reported
// once. The tracker owns the array until the next call or its own end; NULL and 0 when no request
// failed. A failed request is in the list before it counts as complete.
NRT_STATUS nrta_error_tracker_get_list(nrta_error_tracker_t* error_tracker,
                                       const nrta_error_t** error_list, size_t* error_count);

// Makes a descriptor that becomes, and stays, readable when the request is complete; at once if it
// is already. The caller may only poll and close it. Each call makes a new one. NRT_INVALID: no
// such id was issued. NRT_RESOURCE: out of descriptors.
NRT_STATUS nrta_get_completion_handle(nrta_seq_t seq, int* fd);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_DETAIL_ASYNC_TRACKERS_H
