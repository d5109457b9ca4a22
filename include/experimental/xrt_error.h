// The name of xrt/experimental/xrt_error.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_ERROR_H
#define EXPERIMENTAL_XRT_ERROR_H

#include "xrt/experimental/xrt_error.h"

#endif  // EXPERIMENTAL_XRT_ERROR_H
