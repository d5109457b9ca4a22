// Declarations that the documents and the first headers of the interface (2.27) have, and that no
// program is known to use. Include nrt/nrt_async.h instead.
#ifndef NRT_DETAIL_ASYNC_DOCUMENTED_H
#define NRT_DETAIL_ASYNC_DOCUMENTED_H

#include "nrt/nrt_async.h"

// The core and the kind of the unit of a request. Both may evaluate `seq` several times.
#define NRTA_SEQ_LNC(seq) ((seq) >> 52)
#define NRTA_DETAIL_SEQ_KIND(seq) (((seq) >> 48) % 16 / 3)
#if NRT_ASYNC_API_VERSION == 228
#define NRTA_SEQ_XU(seq) ((nrta_xu_t)NRTA_DETAIL_SEQ_KIND(seq))
#else
// Ids count reads, writes and copies as three kinds.
#define NRTA_SEQ_XU(seq) \
  ((nrta_xu_t)(NRTA_DETAIL_SEQ_KIND(seq) > 2 ? NRTA_DETAIL_SEQ_KIND(seq) - 2 : 0))
#endif

// A kind of unit that never did anything: no core has such units.
#define NRTA_XU_SEND_RECV NRTA_XU_TYPE_NUM

typedef uint16_t nrta_xuq_t;

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

// nrta_get_completion_handle under its first name.
NRT_STATUS nrta_mark(nrta_seq_t seq_num, int* event_fd);

// Requests start by themselves, so there is nothing to start: always succeeds.
NRT_STATUS nrta_start_next(nrta_xuq_t xuq);

// Several collectives in one. What it takes was never published, so it accepts any arguments and
// returns NRT_FAILURE: prepare the collectives one by one.
NRT_STATUS nrta_cc_prepare_coalesced(nrt_cc_comm_t* comm, ...);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif  // NRT_DETAIL_ASYNC_DOCUMENTED_H
