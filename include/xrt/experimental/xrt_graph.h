// The former name of xrt/xrt_graph.h.
#ifndef XRT_EXPERIMENTAL_XRT_GRAPH_H
#define XRT_EXPERIMENTAL_XRT_GRAPH_H

#include "xrt/xrt_graph.h"

#endif  // XRT_EXPERIMENTAL_XRT_GRAPH_H
