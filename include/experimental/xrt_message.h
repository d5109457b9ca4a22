// The name of xrt/experimental/xrt_message.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_MESSAGE_H
#define EXPERIMENTAL_XRT_MESSAGE_H

#include "xrt/experimental/xrt_message.h"

#endif  // EXPERIMENTAL_XRT_MESSAGE_H
