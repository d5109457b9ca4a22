// Weights and biases of convolutions and matrix products as quantised constants.
#pragma once

#include "graph/graph.h"
#include "quantise/calibrate/value_statistics.h"
#include "quantise/rewrite/forms.h"

namespace millrace::quantise {

// How to walk over a weight: each element belongs to one channel of the result and meets one of the
// operand. Requirement: the node is one that is_weighted().
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
  size_t row_ = 1;            // elements in a row with the same channel of the result
  size_t kernel_ = 1;         // elements in a row with the same channel of the operand
  size_t group_outputs_ = 1;  // channels of the result in a group,
  size_t group_inputs_ = 1;   // and of the operand
};

// Replaces the FLOAT32 weight of `node`, if it has a constant one, by INT8 in -127 to 127 with a
// scale per channel of the result, and the bias by INT32, whose scales are those of the weight
// times that of the operand. The constants are added to `graph`, which holds those of the node.
//
// `seen`, if it is not null, is what the operand was: the bias then makes up for what rounding the
// weights adds to the mean of each channel of the result.
void quantise_weights(graph::Graph& graph, graph::Node& node, const StoredForm& operand,
                      const ValueStatistics* seen);

}  // namespace millrace::quantise
