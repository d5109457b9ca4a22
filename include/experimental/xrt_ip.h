// The name of xrt/experimental/xrt_ip.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_IP_H
#define EXPERIMENTAL_XRT_IP_H

#include "xrt/experimental/xrt_ip.h"

#endif  // EXPERIMENTAL_XRT_IP_H
