// The constants that a network with open shapes computes from its initializers alone, such as a
// weight that it transposes.
//
// A static model has them folded by the lowering. A network with open shapes is lowered anew for
// each set of shapes, so here they are computed once, and become initializers.
#pragma once

#include "graph/capabilities.h"
#include "graph/network/network.h"

namespace millrace::compiler {

// Replaces nodes that read initializers only by initializers, where these take about as much memory
// as what they are computed from. Leaves the network as it is where the nodes cannot be lowered:
// their error belongs to the lowering of the network. Nodes that dequantise stay, so that weights
// stay in their integers. Initializers that nothing reads any more stay, too.
void fold_network_constants(network::Network& network, const graph::Capabilities& capabilities);

}  // namespace millrace::compiler
