// Attributes of a oneDNN primitive: what it does besides its operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/cpu/dnnl/primitives.h"

namespace millrace::device::cpu {

// Appends a function, times `factor`, that is applied to the results before they are stored. Throws
// dnnl::error where the chain has the same function with other parameters, which oneDNN 2.6 would
// use for both, and the two cannot be merged.
void append_eltwise(dnnl::post_ops& post_ops, const Eltwise& function, float factor = 1);

// The attributes of a primitive that adds up products of integers:
//   result = post-ops((sum + bias) * factor) + zero point of the result
// where the factor is one for all sums, or one per output channel.
class IntegerAttributes {
 public:
  // An operand of the primitive that is the same in every run.
  struct Constant {
    int argument;
    Desc desc;
    std::vector<std::byte> elements;
  };

  // `attributes`: those that every primitive has. `has_groups`: the weights have a dimension for
  // them in front of the channels.
  IntegerAttributes(dnnl::primitive_attr attributes, std::vector<float> factors,
                    bool has_groups = false);

  void set_post_ops(const dnnl::post_ops& post_ops) { attributes_.set_post_ops(post_ops); }
  // Sets the zero point of `argument`. That of an operand is subtracted, that of the result added.
  void set_zero_point(int argument, int32_t zero_point);

  const dnnl::primitive_attr& get() const { return attributes_; }
  // Returns the bias that the primitive takes, from one in the scale of the sums, with an entry per
  // channel.
  std::vector<float> bias(std::vector<float> in_sums) const;
  // The constants that the primitive takes besides the operands of its operation.
  const std::vector<Constant>& constants() const { return constants_; }

 private:
  dnnl::primitive_attr attributes_;
  std::vector<float> factors_;
  std::vector<Constant> constants_;
};

}  // namespace millrace::device::cpu
