// The name of xrt/experimental/xrt_system.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_SYSTEM_H
#define EXPERIMENTAL_XRT_SYSTEM_H

#include "xrt/experimental/xrt_system.h"

#endif  // EXPERIMENTAL_XRT_SYSTEM_H
