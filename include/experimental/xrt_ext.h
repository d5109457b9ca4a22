// The name of xrt/experimental/xrt_ext.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_EXT_H
#define EXPERIMENTAL_XRT_EXT_H

#include "xrt/experimental/xrt_ext.h"

#endif  // EXPERIMENTAL_XRT_EXT_H
