// The former name of xrt/xrt_uuid.h.
#ifndef EXPERIMENTAL_XRT_UUID_H
#define EXPERIMENTAL_XRT_UUID_H

#include "xrt/xrt_uuid.h"

#endif  // EXPERIMENTAL_XRT_UUID_H
