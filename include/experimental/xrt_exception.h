// The name of xrt/experimental/xrt_exception.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_EXCEPTION_H
#define EXPERIMENTAL_XRT_EXCEPTION_H

#include "xrt/experimental/xrt_exception.h"

#endif  // EXPERIMENTAL_XRT_EXCEPTION_H
