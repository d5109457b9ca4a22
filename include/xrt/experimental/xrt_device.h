// The former name of xrt/xrt_device.h.
#ifndef XRT_EXPERIMENTAL_XRT_DEVICE_H
#define XRT_EXPERIMENTAL_XRT_DEVICE_H

#include "xrt/xrt_device.h"

#endif  // XRT_EXPERIMENTAL_XRT_DEVICE_H
