// Quantises the weights and biases of convolutions and matrix products: symmetric INT8 weights with
// a scale per output channel, INT32 biases, and bias correction (Nagel et al., "Data-Free
// Quantization Through Weight Equalization and Bias Correction", 2019).
#pragma once

#include "graph/graph.h"
#include "quantise/calibrate/value_statistics.h"
#include "quantise/rewrite/encodings.h"

namespace millrace::quantise {

// Maps each element of a weight to the channel of the result that it contributes to and the channel
// of the operand that it multiplies. Requirement: the node is a Conv, or a MatMul with a weight of
// rank 2.
class WeightLayout {
 public:
  WeightLayout(const graph::Graph& graph, const graph::Node& node);

  size_t outputs() const noexcept { return outputs_; }  // channels of the result
  size_t inputs() const noexcept { return inputs_; }    // channels of the operand
  uint32_t axis() const noexcept { return axis_; }      // of the result's channels in the weight
  size_t output_of(size_t element) const noexcept;
  size_t input_of(size_t element) const noexcept;

 private:
  size_t outputs_ = 1, inputs_ = 1;
  uint32_t axis_ = 0;
  size_t row_ = 1;            // consecutive elements with the same channel of the result
  size_t kernel_ = 1;         // consecutive elements with the same channel of the operand
  size_t group_outputs_ = 1;  // channels of the result in a group,
  size_t group_inputs_ = 1;   // and of the operand
};

// Replaces the FLOAT32 weight of `node`, if it is constant, by INT8 in -127 to 127 with a scale per
// channel of the result, and the bias by INT32 whose scales are those of the weight times that of
// the operand. `operand` is the operand's encoding. The constants are added to `graph`, which must
// hold those of the node.
//
// `seen`, if it is not null, has the statistics of the operand. The bias is then corrected by the
// mean error that rounding the weights causes in each channel of the result, and a node without a
// bias gets one.
void quantise_weights(graph::Graph& graph, graph::Node& node, const Encoding& operand,
                      const ValueStatistics* seen);

}  // namespace millrace::quantise
