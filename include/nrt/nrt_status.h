// The results of calls, and of the requests that they schedule. The numbers are part of the binary
// interface and never change.
#ifndef NRT_NRT_STATUS_H
#define NRT_NRT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  NRT_SUCCESS = 0,
  NRT_FAILURE = 1,             // unspecific: no other code fits
  NRT_INVALID = 2,             // an argument, a name or size of a tensor, a model, an unknown id
  NRT_INVALID_HANDLE = 3,      // the handle is not that of a live object
  NRT_RESOURCE = 4,            // out of memory, descriptors or another resource
  NRT_TIMEOUT = 5,             // took longer than its limit
  NRT_HW_ERROR = 6,            // the device failed
  NRT_QUEUE_FULL = 7,          // nothing was queued: retry after a completion of the same unit
  NRT_LOAD_NOT_ENOUGH_NC = 9,  // the core is none of the visible ones
  NRT_UNSUPPORTED_NEFF_VERSION = 10,         // a model container that this library cannot run
  NRT_FAIL_HOST_MEM_ALLOC = 11,              // for old programs; never returned
  NRT_UNINITIALIZED = 13,                    // before nrt_init, or in the child of a fork
  NRT_CLOSED = 14,                           // after nrt_close, or cancelled by it
  NRT_QUEUE_EMPTY = 15,                      // nothing can be read
  NRT_EXEC_UNIT_UNRECOVERABLE = 101,         // the unit is degraded until nrt_close and nrt_init
  NRT_EXEC_BAD_INPUT = 1002,                 // an input was rejected during the execution
  NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003,    // finished, with a NaN in an output
  NRT_EXEC_COMPLETED_WITH_ERR = 1004,        // finished, with another error
  NRT_EXEC_NC_BUSY = 1005,                   // another process or model holds the core
  NRT_EXEC_OOB = 1006,                       // an index was out of bounds
  NRT_COLL_PENDING = 1100,                   // the collective is not finished
  NRT_EXEC_HW_ERR_COLLECTIVES = 1200,        // stuck in a collective
  NRT_EXEC_HW_ERR_HBM_UE = 1201,             // memory error that cannot be repaired
  NRT_EXEC_HW_ERR_NC_UE = 1202,              // parity error inside the core
  NRT_EXEC_HW_ERR_DMA_ABORT = 1203,          // a transfer was aborted
  NRT_EXEC_SW_NQ_OVERFLOW = 1204,            // notifications were lost
  NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE = 1205,  // memory error that a restart repairs
  NRT_NETWORK_PROXY_FAILURE = 1206           // the network between ranks failed
} NRT_STATUS;

// The earlier name of 101.
#define NRT_EXEC_UNIT_DISABLED NRT_EXEC_UNIT_UNRECOVERABLE

#pragma GCC visibility push(default)

// The name of the enumerator, or a fixed text for any other number. Never NULL; must not be freed.
// Thread-safe; works at any time, also before nrt_init.
const char* nrt_get_status_as_str(NRT_STATUS status);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_NRT_STATUS_H
