// The name of xrt/experimental/xrt_fence.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_FENCE_H
#define EXPERIMENTAL_XRT_FENCE_H

#include "xrt/experimental/xrt_fence.h"

#endif  // EXPERIMENTAL_XRT_FENCE_H
