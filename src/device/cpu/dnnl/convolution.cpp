#include "device/cpu/dnnl/convolution.h"

#include <limits>

#include "device/cpu/dnnl/primitives.h"

namespace millrace::device::cpu {
namespace {

using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

// One spatial dimension.
struct Axis {
  int64_t size, taps, positions;
  int64_t stride, dilation, padding;

  bool reads_element(int64_t position) const {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t read = position * stride - padding + tap * dilation;
      if (read >= 0 && read < size) return true;
    }
    return false;
  }
  bool always_reads_element() const {
    for (int64_t position = 0; position < positions; ++position)
      if (!reads_element(position)) return false;
    return true;
  }
};

bool reads_only_padding(const ConvolutionOperation& operation) {
  const Dims x = operation.x.dims(), weights = operation.weights.dims(), y = operation.y.dims();
  const size_t rank = operation.strides.size();
  for (size_t i = 0; i < rank; ++i) {
    const auto size = [&](const Dims& dims) { return dims[dims.size() - rank + i]; };
    const Axis axis{size(x),
                    size(weights),
                    size(y),
                    operation.strides[i],
                    operation.dilations[i],
                    operation.pads_begin[i]};
    if (!axis.always_reads_element()) return true;
  }
  return false;
}

bool has_groups_of_bytes(const ConvolutionOperation& operation) {
  return operation.weights.dims().size() > operation.x.dims().size() &&
         operation.weights.data_type() == ElementType::s8;
}

// oneDNN keeps the primitive, so to make it again takes no time.
bool can_be_made(const PrimitiveDesc& description) {
  try {
    const dnnl::convolution_forward made(description);
    return true;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return false;
  }
}

class Choice {
 public:
  Choice(const ConvolutionOperation& operation, const ImplementationRank& rank)
      : rank_(rank),
        may_be_brgemm_(!reads_only_padding(operation)),
        may_be_impossible_(has_groups_of_bytes(operation)) {}

  PrimitiveDesc operator()(PrimitiveDesc description) const {
    PrimitiveDesc chosen;
    int least = std::numeric_limits<int>::max();
    while (description.get(/*allow_empty=*/true) != nullptr) {
      const auto rank = rank_(description.impl_info_str());
      if (rank && (*rank < least || !chosen) && is_sound(description)) {
        least = *rank;
        chosen = description;
      }
      if ((chosen && least == 0) || !description.next_impl()) break;
    }
    return chosen;
  }

 private:
  bool is_sound(const PrimitiveDesc& description) const {
    if (!may_be_brgemm_ && std::string_view(description.impl_info_str()).starts_with("brg"))
      return false;
    return !may_be_impossible_ || can_be_made(description);
  }

  const ImplementationRank& rank_;
  const bool may_be_brgemm_, may_be_impossible_;
};

}  // namespace

ImplementationRank only_named(std::string_view wanted) {
  return [wanted](std::string_view implementation) {
    return implementation == wanted ? std::optional(0) : std::nullopt;
  };
}

std::optional<int> in_given_order(std::string_view /*implementation*/) {
  return 0;
}

PrimitiveDesc find_convolution(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                               const ConvolutionOperation& operation,
                               const ImplementationRank& rank) {
  const auto& [x, weights, bias, y, strides, dilations, pads_begin, pads_end] = operation;
  return choose_primitive<dnnl::convolution_forward>(
      engine, attributes, Choice(operation, rank), dnnl::prop_kind::forward_inference,
      dnnl::algorithm::convolution_direct, x, weights, bias, y, strides, gaps_of(dilations),
      pads_begin, pads_end);
}

}  // namespace millrace::device::cpu
