// The types of nrt_async.h: units, sequence ids, errors. Include nrt/nrt_async.h instead.
#ifndef NRT_DETAIL_ASYNC_TYPES_H
#define NRT_DETAIL_ASYNC_TYPES_H

#include <stdint.h>

#include "nrt/detail/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The id of a request: the unit in the upper 16 bits, its number in that unit in the lower 48. A
// unit numbers the requests that it accepts from 1 on, without gaps, so that ids of one unit
// compare as integers. Number 0 means "nothing yet" and belongs to no request.
typedef uint64_t nrta_seq_t;
typedef uint16_t nrta_xu_id_t;

#define NRTA_SEQ_NUM_MAX ((UINT64_C(1) << 48) - 1)
#define NRTA_SEQ_NUM_MASK NRTA_SEQ_NUM_MAX
#define NRTA_SEQ_GET_SEQ_NUM(seq) ((seq)&NRTA_SEQ_NUM_MASK)
#define NRTA_SEQ_GET_XU_ID(seq) ((seq) >> 48)

// The kinds of execution units. A core has one COMPUTE unit, three COLLECTIVES units and two units
// of each other kind, distinguished by the queue argument, which counts from 0.
#if NRT_ASYNC_API_VERSION == 228
typedef enum {
  NRTA_XU_TENSOR_READ = 0,
  NRTA_XU_TENSOR_WRITE = 1,
  NRTA_XU_TENSOR_OP = 2,  // copies
  NRTA_XU_COMPUTE = 3,
  NRTA_XU_COLLECTIVES = 4,
  NRTA_XU_NUM = 5
} nrta_xu_t;
#else
typedef enum {
  NRTA_XU_TENSOR_OP = 0,  // reads, writes and copies
  NRTA_XU_COMPUTE = 1,
  NRTA_XU_COLLECTIVES = 2,
  NRTA_XU_NUM = 3
} nrta_xu_t;
#if NRT_ASYNC_API_VERSION == 0
// Macros, not enumerators, so that a switch with a case for each enumerator has no duplicates.
#define NRTA_XU_TENSOR_READ NRTA_XU_TENSOR_OP
#define NRTA_XU_TENSOR_WRITE NRTA_XU_TENSOR_OP
#endif
#endif

// A request that failed, as nrta_error_tracker_get_list reports it.
typedef struct nrta_error {
  nrta_seq_t seq_id;
  uint64_t error_code;  // an NRT_STATUS
} nrta_error_t;

#ifdef __cplusplus
static_assert(sizeof(nrta_error_t) == 16, "nrta_error_t has a fixed layout");
#else
_Static_assert(sizeof(nrta_error_t) == 16, "nrta_error_t has a fixed layout");
#endif

// Collects the errors of the requests that are scheduled with it.
typedef struct nrta_error_tracker nrta_error_tracker_t;

#ifdef __cplusplus
}
#endif

#endif  // NRT_DETAIL_ASYNC_TYPES_H
