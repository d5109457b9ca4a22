// The name of xrt/experimental/xrt_xclbin.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_XCLBIN_H
#define EXPERIMENTAL_XRT_XCLBIN_H

#include "xrt/experimental/xrt_xclbin.h"

#endif  // EXPERIMENTAL_XRT_XCLBIN_H
