#include "device/cpu/dnnl/attributes.h"

#include <utility>

namespace millrace::device::cpu {

void append_eltwise(dnnl::post_ops& post_ops, const Eltwise& function, float factor) {
  post_ops.append_eltwise(factor, function.algorithm, function.alpha, function.beta);
}

IntegerAttributes::IntegerAttributes(dnnl::primitive_attr attributes, std::vector<float> factors,
                                     bool /*has_groups*/)
    : attributes_(std::move(attributes)), factors_(std::move(factors)) {
  constexpr int kPerChannel = 1 << 1;
  attributes_.set_output_scales(factors_.size() > 1 ? kPerChannel : 0, factors_);
}

void IntegerAttributes::set_zero_point(int argument, int32_t zero_point) {
  if (zero_point != 0) attributes_.set_zero_points(argument, 0, {zero_point});
}

std::vector<float> IntegerAttributes::bias(std::vector<float> in_sums) const {
  return in_sums;
}

}  // namespace millrace::device::cpu
