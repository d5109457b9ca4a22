#include "device/cpu/dnnl/primitives.h"

#include <numeric>
#include <optional>
#include <vector>

#include "device/cpu/dnnl/defects.h"
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

// Returns a descriptor of the same memory in which the strides of dimensions of size 1 are those of
// a dense tensor: of the best known order if there are several. The layout must be dense.
Desc with_usual_strides(const Desc& desc) {
  const auto layout = layout_of(desc);
  if (!layout || layout->offset != 0) return desc;
  const Dims dims = desc.dims();
  const ElementType type = desc.data_type();
  std::vector<uint32_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  if (layout->block_count > 0) {
    const auto form = dense_desc(dims, type, order, layout->blocks());
    return form && lie_alike(*form, desc) ? *form : desc;
  }
  const Desc plain = plain_desc(dims, type), channels_last = channels_last_desc(dims, type);
  // 3.7 calls descriptors equal that differ in strides without a meaning.
  if (layout->strides == layout_of(channels_last)->strides) return desc;
  for (const Desc& form : {plain, channels_last, ordered_desc(dims, type, order_of(*layout))})
    if (lie_alike(form, desc)) return form;
  return desc;
}

bool lies_with_channels_last(const Desc& desc) {
  return lie_alike(from_first_element(desc), channels_last_desc(desc.dims(), desc.data_type()));
}

}  // namespace

Desc tensor_as_told(const Desc& desc) {
  Desc first = from_first_element(desc);
  return kIgnoresStridesWithoutMeaning ? first : with_usual_strides(first);
}

dnnl::binary::primitive_desc find_binary(const dnnl::engine& engine,
                                         const dnnl::primitive_attr& attributes,
                                         dnnl::algorithm algorithm, const Desc& a, const Desc& b) {
  const Desc result = without_needless_strides(a);
  return find_primitive<dnnl::binary>(engine, attributes, algorithm, result,
                                      without_needless_strides(b), result);
}

dnnl::resampling_forward::primitive_desc find_resampling(const dnnl::engine& engine,
                                                         const dnnl::primitive_attr& attributes,
                                                         dnnl::algorithm algorithm,
                                                         const Desc& from, const Desc& to) {
  if (kResamplingRecognisesLayouts || !lies_with_channels_last(from))
    return find_primitive<dnnl::resampling_forward>(engine, attributes, kInference, algorithm, from,
                                                    to);
  const bool is_left_open = !layout_of(to).has_value();
  const bool has_same_order = is_left_open || lies_with_channels_last(to);
  return find_primitive<dnnl::resampling_forward>(
      engine, attributes, kInference, algorithm, channels_last_desc(from.dims(), from.data_type()),
      has_same_order ? channels_last_desc(to.dims(), to.data_type()) : to);
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
