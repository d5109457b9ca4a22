// nrta_get_sequence without its queue argument means queue 0. Include nrt/nrt_async.h instead.
//
// A macro that leaves four arguments as they are: addresses, definitions, members and methods of
// the name are not affected.
#ifndef NRT_DETAIL_SEQUENCE_OF_QUEUE_0_H
#define NRT_DETAIL_SEQUENCE_OF_QUEUE_0_H

#define NRTA_DETAIL_QUEUE_0(lnc, xu, seq) (lnc, xu, 0, seq)
#define NRTA_DETAIL_AS_GIVEN(...) (__VA_ARGS__)
#define NRTA_DETAIL_PICK4(a1, a2, a3, a4, picked, ...) picked
#define NRTA_DETAIL_SEQUENCE_ARGS(...)                                                            \
  NRTA_DETAIL_PICK4(__VA_ARGS__, NRTA_DETAIL_AS_GIVEN, NRTA_DETAIL_QUEUE_0, NRTA_DETAIL_AS_GIVEN, \
                    NRTA_DETAIL_AS_GIVEN, ~)                                                      \
  (__VA_ARGS__)
#define nrta_get_sequence(...) nrta_get_sequence NRTA_DETAIL_SEQUENCE_ARGS(__VA_ARGS__)

#endif  // NRT_DETAIL_SEQUENCE_OF_QUEUE_0_H
