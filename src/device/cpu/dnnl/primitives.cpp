#include "device/cpu/dnnl/primitives.h"

namespace millrace::device::cpu {

Dims gaps_of(Dims dilations) {
  for (int64_t& dilation : dilations) --dilation;
  return dilations;
}

namespace {

constexpr auto kInference = dnnl::prop_kind::forward_inference;

// From 3.0 on the layout of the result is stated, too.
template <class Primitive>
typename Primitive::primitive_desc find_normalization(const dnnl::engine& engine,
                                                      const dnnl::primitive_attr& attributes,
                                                      const Desc& layout, float epsilon,
                                                      dnnl::normalization_flags flags) {
#if DNNL_VERSION_MAJOR == 2
  return find_primitive<Primitive>(engine, attributes, kInference, layout, epsilon, flags);
#else
  return find_primitive<Primitive>(engine, attributes, kInference, layout, layout, epsilon, flags);
#endif
}

}  // namespace

Eltwise in_this_version(const Eltwise& function) {
#if DNNL_VERSION_MAJOR > 2
  // Functions that have got parameters.
  if (function.algorithm == dnnl::algorithm::eltwise_hardswish)
    return {function.algorithm, 1.0f / 6, 0.5f};
  if (function.algorithm == dnnl::algorithm::eltwise_soft_relu) return {function.algorithm, 1, 0};
#endif
  return function;
}

dnnl::eltwise_forward::primitive_desc find_eltwise(const dnnl::engine& engine,
                                                   const dnnl::primitive_attr& attributes,
                                                   const Eltwise& function, const Desc& layout) {
  const auto [algorithm, alpha, beta] = in_this_version(function);
#if DNNL_VERSION_MAJOR == 2
  return find_primitive<dnnl::eltwise_forward>(engine, attributes, kInference, algorithm, layout,
                                               alpha, beta);
#else
  return find_primitive<dnnl::eltwise_forward>(engine, attributes, kInference, algorithm, layout,
                                               layout, alpha, beta);
#endif
}

dnnl::prelu_forward::primitive_desc find_prelu(const dnnl::engine& engine,
                                               const dnnl::primitive_attr& attributes,
                                               const Desc& layout, const Desc& slope) {
#if DNNL_VERSION_MAJOR == 2
  return find_primitive<dnnl::prelu_forward>(engine, attributes, kInference, layout, slope);
#else
  return find_primitive<dnnl::prelu_forward>(engine, attributes, kInference, layout, slope, layout);
#endif
}

dnnl::batch_normalization_forward::primitive_desc find_batch_normalization(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const Desc& layout,
    float epsilon, dnnl::normalization_flags flags) {
  return find_normalization<dnnl::batch_normalization_forward>(engine, attributes, layout, epsilon,
                                                               flags);
}

dnnl::layer_normalization_forward::primitive_desc find_layer_normalization(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const Desc& layout,
    float epsilon, dnnl::normalization_flags flags) {
  return find_normalization<dnnl::layer_normalization_forward>(engine, attributes, layout, epsilon,
                                                               flags);
}

}  // namespace millrace::device::cpu
