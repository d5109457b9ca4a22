// Makes oneDNN primitives from the arguments of their operations and their attributes. oneDNN 2.6
// makes a description of the operation first.
#pragma once

#include <string>
#include <type_traits>

#include "device/cpu/dnnl/desc.h"
#include "device/cpu/dnnl/openmp/openmp.h"
#include "device/cpu/dnnl/traits.h"

namespace millrace::device::cpu {

#if DNNL_VERSION_MAJOR == 2
using PoolingPrimitive = dnnl::pooling_v2_forward;
using SoftmaxPrimitive = dnnl::softmax_v2_forward;
#else
using PoolingPrimitive = dnnl::pooling_forward;
using SoftmaxPrimitive = dnnl::softmax_forward;
#endif

// Converts dilations to those of oneDNN, which counts the gap between taps (ONNX: the distance).
Dims gaps_of(Dims dilations);

// Returns a descriptor of the same elements in the form in which oneDNN gets it: the tensor begins
// where its memory begins, and strides without a meaning are those of a dense tensor if the version
// needs that. The memory objects are made to match (cpu_context.cpp).
Desc tensor_as_told(const Desc& desc);

// Returns a part of an operation in the form in which oneDNN gets it.
template <class Part>
decltype(auto) as_told(const Part& part) {
  if constexpr (std::is_base_of_v<dnnl::memory::desc, Part>)
    return tensor_as_told(part);
  else
    return (part);
}

// Returns the description of a primitive that `make` makes. It is made for one thread if its
// threads would wait for each other, which chunks cannot do (openmp/openmp.h).
template <class Make>
auto made_to_run(const Make& make) {
  auto description = make();
  if (description.get(true) == nullptr) return description;
  const std::string implementation = description.impl_info_str();
  if (may_be_divided(implementation)) return description;
  const OneOpenMpThread whole;
  auto undivided = make();
  // Steps are divided according to the name of their implementation, so it must not change.
  const bool same = undivided.get(true) != nullptr && undivided.impl_info_str() == implementation;
  return same ? undivided : description;
}

// Returns the primitive whose operation takes `operation`, in the order of oneDNN's documentation,
// or an empty one if there is none for these shapes and layouts. Do not call its next_impl(), see
// choose_primitive. May throw dnnl::error, too.
template <class Primitive, class... Operation>
typename Primitive::primitive_desc find_primitive(const dnnl::engine& engine,
                                                  const dnnl::primitive_attr& attributes,
                                                  const Operation&... operation) {
  return made_to_run([&] {
#if DNNL_VERSION_MAJOR == 2
    return typename Primitive::primitive_desc(typename Primitive::desc(as_told(operation)...),
                                              attributes, engine, /*allow_empty=*/true);
#else
    return typename Primitive::primitive_desc(engine, as_told(operation)..., attributes,
                                              /*allow_empty=*/true);
#endif
  });
}

// The same where one of several implementations is to be taken: `choose` gets the first one, which
// may be empty, and returns one. It alone may ask for further ones (next_impl): 2.6 refers to the
// description of the operation for that, which ends with this call.
template <class Primitive, class Choose, class... Operation>
typename Primitive::primitive_desc choose_primitive(const dnnl::engine& engine,
                                                    const dnnl::primitive_attr& attributes,
                                                    const Choose& choose,
                                                    const Operation&... operation) {
  return made_to_run([&] {
#if DNNL_VERSION_MAJOR == 2
    const typename Primitive::desc description(as_told(operation)...);
    return choose(typename Primitive::primitive_desc(description, attributes, engine,
                                                     /*allow_empty=*/true));
#else
    return choose(typename Primitive::primitive_desc(engine, as_told(operation)..., attributes,
                                                     /*allow_empty=*/true));
#endif
  });
}

// The same for primitives that are known to exist: throws dnnl::error where there is none.
template <class Primitive, class... Operation>
typename Primitive::primitive_desc make_primitive(const dnnl::engine& engine,
                                                  const dnnl::primitive_attr& attributes,
                                                  const Operation&... operation) {
  return made_to_run([&] {
#if DNNL_VERSION_MAJOR == 2
    return typename Primitive::primitive_desc(typename Primitive::desc(as_told(operation)...),
                                              attributes, engine);
#else
    return typename Primitive::primitive_desc(engine, as_told(operation)..., attributes);
#endif
  });
}

// An elementwise function of oneDNN, with the parameters that it has in 2.6.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha, beta;
};

// Converts the parameters to those of the same function in the version that is compiled for.
Eltwise in_this_version(const Eltwise& function);

// Finds the primitive of `a` and `b`, whose result lies as `a` does.
dnnl::binary::primitive_desc find_binary(const dnnl::engine& engine,
                                         const dnnl::primitive_attr& attributes,
                                         dnnl::algorithm algorithm, const Desc& a, const Desc& b);

// Finds the resampling of `from`. `to` may leave the layout to oneDNN.
dnnl::resampling_forward::primitive_desc find_resampling(const dnnl::engine& engine,
                                                         const dnnl::primitive_attr& attributes,
                                                         dnnl::algorithm algorithm,
                                                         const Desc& from, const Desc& to);

// These find primitives whose results have the layout of their operands.
dnnl::eltwise_forward::primitive_desc find_eltwise(const dnnl::engine& engine,
                                                   const dnnl::primitive_attr& attributes,
                                                   const Eltwise& function, const Desc& layout);
// Empty, too, for a slope of fewer elements where the channels lie between other dimensions.
dnnl::prelu_forward::primitive_desc find_prelu(const dnnl::engine& engine,
                                               const dnnl::primitive_attr& attributes,
                                               const Desc& layout, const Desc& slope);
dnnl::batch_normalization_forward::primitive_desc find_batch_normalization(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const Desc& layout,
    float epsilon, dnnl::normalization_flags flags);
dnnl::layer_normalization_forward::primitive_desc find_layer_normalization(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const Desc& layout,
    float epsilon, dnnl::normalization_flags flags);

}  // namespace millrace::device::cpu
