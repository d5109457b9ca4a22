// The name of xrt/experimental/xrt_mailbox.h up to release 2.17 of XRT.
#ifndef EXPERIMENTAL_XRT_MAILBOX_H
#define EXPERIMENTAL_XRT_MAILBOX_H

#include "xrt/experimental/xrt_mailbox.h"

#endif  // EXPERIMENTAL_XRT_MAILBOX_H
