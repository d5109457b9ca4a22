#include "device/cpu/dnnl/primitives.h"

#include "device/cpu/dnnl/layout.h"

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

// oneDNN 2.6 leaves out elements, where one operand is broadcast, if strides of dimensions of size
// 1 make another order of a tensor in C order: 24x1x2 with the strides 2, 48, 1.
Desc without_needless_strides(const Desc& desc) {
  Desc plain = plain_desc(desc.dims(), desc.data_type());
  return strides_of(desc) && lie_alike(from_first_element(desc), plain) ? plain : desc;
}

// Whether oneDNN 2.6 gives each element the slope of its channel. Where dimensions behind the
// channels lie on both sides of them, it does not.
bool finds_slopes(const Desc& layout, const Desc& slope) {
  const Dims dims = layout.dims();
  if (slope.dims() == dims) return true;
  const Desc here = from_first_element(layout);
  const ElementType type = layout.data_type();
  if (lie_alike(here, plain_desc(dims, type)) || lie_alike(here, channels_last_desc(dims, type)))
    return true;
  const auto known = layout_of(here);
  return known && known->block_count == 1 &&
         lie_alike(here, blocked_desc(dims, type, static_cast<int>(known->blocks()[0].size)));
}

}  // namespace

dnnl::binary::primitive_desc find_binary(const dnnl::engine& engine,
                                         const dnnl::primitive_attr& attributes,
                                         dnnl::algorithm algorithm, const Desc& a, const Desc& b) {
  const Desc result = without_needless_strides(a);
  return find_primitive<dnnl::binary>(engine, attributes, algorithm, result,
                                      without_needless_strides(b), result);
}

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
  if (!finds_slopes(layout, slope)) return {};
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
