// The former name of xrt/xrt_uuid.h.
#ifndef XRT_EXPERIMENTAL_XRT_UUID_H
#define XRT_EXPERIMENTAL_XRT_UUID_H

#include "xrt/xrt_uuid.h"

#endif  // XRT_EXPERIMENTAL_XRT_UUID_H
