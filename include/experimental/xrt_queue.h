// The name of xrt/experimental/xrt_queue.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_QUEUE_H
#define EXPERIMENTAL_XRT_QUEUE_H

#include "xrt/experimental/xrt_queue.h"

#endif  // EXPERIMENTAL_XRT_QUEUE_H
