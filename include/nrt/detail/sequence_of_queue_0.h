// nrta_get_sequence without its queue argument means queue 0. Include nrt/nrt_async.h instead.
//
// A macro that changes calls of three arguments only: addresses, definitions, members and methods
// of the name are not affected.
#ifndef NRT_DETAIL_SEQUENCE_OF_QUEUE_0_H
#define NRT_DETAIL_SEQUENCE_OF_QUEUE_0_H

#include "nrt/detail/forms.h"

#define NRTA_DETAIL_AS_GIVEN(...) (__VA_ARGS__)
#define NRTA_DETAIL_QUEUE_0(lnc, xu, seq) (lnc, xu, 0, seq)
#define NRTA_DETAIL_FORM_OF_3() ~, NRTA_DETAIL_QUEUE_0
#define nrta_get_sequence(...)                                                                    \
  nrta_get_sequence NRT_DETAIL_FORM(NRT_DETAIL_ARG4(__VA_ARGS__, NRTA_DETAIL_FORM_OF_3, ~, ~, ~), \
                                    NRTA_DETAIL_AS_GIVEN)(__VA_ARGS__)

#endif  // NRT_DETAIL_SEQUENCE_OF_QUEUE_0_H
