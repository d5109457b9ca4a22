// The former name of xrt/xrt_device.h.
#ifndef EXPERIMENTAL_XRT_DEVICE_H
#define EXPERIMENTAL_XRT_DEVICE_H

#include "xrt/xrt_device.h"

#endif  // EXPERIMENTAL_XRT_DEVICE_H
