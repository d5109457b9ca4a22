#include "device/cpu/dnnl/attributes.h"

#include <span>
#include <utility>

namespace millrace::device::cpu {

#if DNNL_VERSION_MAJOR == 2

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

#else

namespace {

template <class T>
IntegerAttributes::Constant constant(int argument, ElementType type, std::span<const T> elements) {
  const auto bytes = std::as_bytes(elements);
  return {argument,
          plain_desc({static_cast<int64_t>(elements.size())}, type),
          {bytes.begin(), bytes.end()}};
}

}  // namespace

// The factors are scales of the weights, which oneDNN applies to the sums before it adds the bias.
IntegerAttributes::IntegerAttributes(dnnl::primitive_attr attributes, std::vector<float> factors,
                                     bool has_groups)
    : attributes_(std::move(attributes)), factors_(std::move(factors)) {
  const int per_channel = has_groups ? 1 << 0 | 1 << 1 : 1 << 0;
  attributes_.set_scales_mask(DNNL_ARG_WEIGHTS, factors_.size() > 1 ? per_channel : 0);
  constants_.push_back(constant(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, ElementType::f32,
                                std::span<const float>(factors_)));
}

void IntegerAttributes::set_zero_point(int argument, int32_t zero_point) {
  if (zero_point == 0) return;
  attributes_.set_zero_points_mask(argument, 0);
  constants_.push_back(constant(DNNL_ARG_ATTR_ZERO_POINTS | argument, ElementType::s32,
                                std::span<const int32_t>(&zero_point, 1)));
}

std::vector<float> IntegerAttributes::bias(std::vector<float> in_sums) const {
  for (size_t i = 0; i < in_sums.size(); ++i) in_sums[i] *= factors_[factors_.size() > 1 ? i : 0];
  return in_sums;
}

#endif

}  // namespace millrace::device::cpu
