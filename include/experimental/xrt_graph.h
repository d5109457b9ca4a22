// The former name of xrt/xrt_graph.h.
#ifndef EXPERIMENTAL_XRT_GRAPH_H
#define EXPERIMENTAL_XRT_GRAPH_H

#include "xrt/xrt_graph.h"

#endif  // EXPERIMENTAL_XRT_GRAPH_H
