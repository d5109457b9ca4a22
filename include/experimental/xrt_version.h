// The name of xrt/experimental/xrt_version.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_VERSION_H
#define EXPERIMENTAL_XRT_VERSION_H

#include "xrt/experimental/xrt_version.h"

#endif  // EXPERIMENTAL_XRT_VERSION_H
