// Each function describes an operation in a form that all versions of oneDNN compute correctly:
// tensors begin at their first element, and strides without a meaning are replaced by those of a
// usual layout.
#include "device/cpu/dnnl/primitives.h"

#include <algorithm>
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
  return strides_of(desc) && have_same_strides(from_first_element(desc), plain) ? plain : desc;
}

// Whether oneDNN 2.6 gives each element the slope of its channel. It does not if the channels lie
// between the spatial dimensions in memory.
bool finds_slopes(const Desc& layout, const Desc& slope) {
  const Dims dims = layout.dims();
  if (slope.dims() == dims) return true;
  const Desc here = from_first_element(layout);
  const ElementType type = layout.data_type();
  if (have_same_strides(here, plain_desc(dims, type)) ||
      have_same_strides(here, channels_last_desc(dims, type)))
    return true;
  const auto known = layout_of(here);
  return known && known->block_count == 1 &&
         have_same_strides(here,
                           blocked_desc(dims, type, static_cast<int>(known->blocks()[0].size)));
}

// Whether a dense tensor in some order of its dimensions has these strides: the stride of a
// dimension of size 1 is 1, or the extent of another dimension.
bool are_dense_strides(const Dims& dims, const Dims& strides) {
  const auto is_end = [&](int64_t stride) {
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] > 1 && strides[i] * dims[i] == stride) return true;
    return stride == 1;
  };
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == 1 && !is_end(strides[i])) return false;
  return true;
}

// Returns the first of several usual layouts that describe the same memory, or `desc`.
Desc usual_layout(const Desc& desc) {
  const Dims dims = desc.dims();
  const ElementType type = desc.data_type();
  const auto layout = layout_of(desc);
  if (!layout || layout->offset != 0) return desc;
  std::vector<Desc> usual = {plain_desc(dims, type), channels_last_desc(dims, type)};
  if (layout->block_count == 1 && layout->block_array[0].dim == 1)
    usual = {blocked_desc(dims, type, static_cast<int>(layout->block_array[0].size))};
  if (layout->block_count == 0) usual.push_back(ordered_desc(dims, type, order_of(*layout)));
  const auto found =
      std::ranges::find_if(usual, [&](const Desc& form) { return have_same_strides(form, desc); });
  return found == usual.end() ? desc : *found;
}

}  // namespace

Desc tensor_as_told(const Desc& desc) {
  Desc first = from_first_element(desc);
  if (kIgnoresStridesWithoutMeaning) return first;
  const auto strides = strides_of(first);
  return strides && !are_dense_strides(first.dims(), *strides) ? usual_layout(first) : first;
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
  if (kResamplingRecognisesLayouts)
    return find_primitive<dnnl::resampling_forward>(engine, attributes, kInference, algorithm, from,
                                                    to);
  const Desc first = from_first_element(from);
  const Desc from_last = channels_last_desc(from.dims(), from.data_type());
  const Desc to_last = channels_last_desc(to.dims(), to.data_type());
  // oneDNN gives the result the layout of the image, but not always if several names fit that.
  if (have_same_strides(first, from_last) && (!layout_of(to) || have_same_strides(to, to_last)))
    return find_primitive<dnnl::resampling_forward>(engine, attributes, kInference, algorithm,
                                                    from_last, to_last);
  return find_primitive<dnnl::resampling_forward>(engine, attributes, kInference, algorithm,
                                                  usual_layout(first), usual_layout(to));
}

Eltwise in_this_version(const Eltwise& function) {
#if DNNL_VERSION_MAJOR > 2
  // Functions that have got parameters.
  if (function.algorithm == dnnl::algorithm::eltwise_hardswish)
    return {function.algorithm, 1.0f / 6, 0.5f};
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
