// The name of xrt/experimental/xrt_aie.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_AIE_H
#define EXPERIMENTAL_XRT_AIE_H

#include "xrt/experimental/xrt_aie.h"

#endif  // EXPERIMENTAL_XRT_AIE_H
