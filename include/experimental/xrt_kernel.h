// The name of xrt/experimental/xrt_kernel.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_KERNEL_H
#define EXPERIMENTAL_XRT_KERNEL_H

#include "xrt/experimental/xrt_kernel.h"

#endif  // EXPERIMENTAL_XRT_KERNEL_H
