// The name of xrt/experimental/xrt_module.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_MODULE_H
#define EXPERIMENTAL_XRT_MODULE_H

#include "xrt/experimental/xrt_module.h"

#endif  // EXPERIMENTAL_XRT_MODULE_H
