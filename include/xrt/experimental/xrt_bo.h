// The former name of xrt/xrt_bo.h.
#ifndef XRT_EXPERIMENTAL_XRT_BO_H
#define XRT_EXPERIMENTAL_XRT_BO_H

#include "xrt/xrt_bo.h"

#endif  // XRT_EXPERIMENTAL_XRT_BO_H
