#include "device/cpu/dnnl/primitives.h"

namespace millrace::device::cpu {

constexpr auto kInference = dnnl::prop_kind::forward_inference;

dnnl::eltwise_forward::primitive_desc find_eltwise(const dnnl::engine& engine,
                                                   const dnnl::primitive_attr& attributes,
                                                   const Eltwise& function, const Desc& layout) {
  return find_primitive<dnnl::eltwise_forward>(engine, attributes, kInference, function.algorithm,
                                               layout, function.alpha, function.beta);
}

dnnl::prelu_forward::primitive_desc find_prelu(const dnnl::engine& engine,
                                               const dnnl::primitive_attr& attributes,
                                               const Desc& layout, const Desc& slope) {
  return find_primitive<dnnl::prelu_forward>(engine, attributes, kInference, layout, slope);
}

dnnl::batch_normalization_forward::primitive_desc find_batch_normalization(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const Desc& layout,
    float epsilon, dnnl::normalization_flags flags) {
  return find_primitive<dnnl::batch_normalization_forward>(engine, attributes, kInference, layout,
                                                           epsilon, flags);
}

dnnl::layer_normalization_forward::primitive_desc find_layer_normalization(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const Desc& layout,
    float epsilon, dnnl::normalization_flags flags) {
  return find_primitive<dnnl::layer_normalization_forward>(engine, attributes, kInference, layout,
                                                           epsilon, flags);
}

}  // namespace millrace::device::cpu
