// All classes of XRT that are not experimental. A stand-in for the header of the board's runtime;
// see xrt_bo.h. C++17 and later.
#ifndef XRT_XRT_H
#define XRT_XRT_H

#include "xrt/xrt_aie.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"
#include "xrt/xrt_graph.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_kernel.h"
#include "xrt/xrt_uuid.h"

#endif  // XRT_XRT_H
