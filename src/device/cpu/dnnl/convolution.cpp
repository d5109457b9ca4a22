// The search through oneDNN's list of implementations for the best rank that is sound. An
// implementation by brgemm is not if a window reads padding only; one of bytes in groups may be
// listed although it cannot be made; and in place of a defective one for bytes only those that add
// up exactly are taken. The list can only be walked forwards, so a description that has gone past
// the choice is made again.
#include "device/cpu/dnnl/convolution.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "device/cpu/dnnl/defects.h"
#include "device/cpu/dnnl/layout.h"
#include "device/cpu/dnnl/primitives.h"
#include "device/cpu/dnnl/traits.h"

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

// Whether one channel becomes a single column by a stride along the columns only. Where there is
// one row, too, as in convolutions of one spatial dimension, brgemm is right.
bool makes_single_column(const ConvolutionOperation& operation) {
  const Dims weights = operation.weights.dims();
  const size_t rank = operation.strides.size(), first_tap = weights.size() - rank;
  return rank >= 2 && weights[first_tap - 1] == 1 && weights.back() > 1 &&
         operation.y.dims().back() == 1 && operation.strides[rank - 1] > 1 &&
         operation.strides[rank - 2] == 1;
}

bool has_groups(const ConvolutionOperation& operation) {
  return operation.weights.dims().size() > operation.x.dims().size();
}

bool is_of_bytes(const ConvolutionOperation& operation) {
  return operation.weights.data_type() == ElementType::s8;
}

// oneDNN caches the primitive, so making it again takes no time.
bool can_be_made(const PrimitiveDesc& description) {
  try {
    const dnnl::convolution_forward made(description);
    return true;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return false;
  }
}

bool is_pointwise(const ConvolutionOperation& operation) {
  const Dims weights = operation.weights.dims();
  const auto is = [](int64_t wanted) { return [=](int64_t number) { return number == wanted; }; };
  return weights.size() == operation.x.dims().size() &&
         std::all_of(weights.begin() + 2, weights.end(), is(1)) &&
         std::ranges::all_of(operation.pads_begin, is(0)) &&
         std::ranges::all_of(operation.pads_end, is(0));
}

bool can_be_described(const ConvolutionOperation& operation) {
  constexpr std::pair<int64_t, int64_t> kChannels[] = {
      {256, 1024}, {512, 1024}, {512, 2048}, {1024, 512}, {1024, 2048}};
  if (kDescribesEveryConvolution || !is_pointwise(operation)) return true;
  const auto layout = layout_of(operation.x);
  if (layout && layout->block_count > 0) return true;
  const Dims weights = operation.weights.dims();
  return std::ranges::find(kChannels, std::pair(weights[1], weights[0])) == std::end(kChannels);
}

class Choice {
 public:
  Choice(const ConvolutionOperation& operation, const ImplementationRank& rank)
      : rank_(rank),
        may_be_brgemm_(!reads_only_padding(operation) &&
                       (kBrgemmComputesSingleColumns || !makes_single_column(operation))),
        is_of_bytes_(is_of_bytes(operation)),
        may_be_impossible_(is_of_bytes_ && has_groups(operation)) {}

  struct Found {
    size_t number;    // how often next_impl() is called until a description has the implementation
    bool is_current;  // whether the description that was searched has it now
  };

  // Searches the implementations of the description, and advances it.
  std::optional<Found> find_in(PrimitiveDesc& description) const {
    std::optional<size_t> chosen;
    int least = std::numeric_limits<int>::max();
    if (description.get(/*allow_empty=*/true) == nullptr) return std::nullopt;
    bool is_replacement = false;  // true after a defective one
    for (size_t number = 0;; ++number) {
      const auto rank = rank_(description.impl_info_str());
      if (rank && (*rank < least || !chosen)) {
        if (is_sound(description, is_replacement)) {
          least = *rank;
          chosen = number;
        } else {
          is_replacement = true;
        }
      }
      const bool is_best = chosen && least == 0;
      if (!is_best && description.next_impl()) continue;
      if (!chosen) return std::nullopt;
      return Found{*chosen, *chosen == number};
    }
  }

 private:
  bool is_sound(const PrimitiveDesc& description, bool is_replacement) const {
    const std::string_view name = description.impl_info_str();
    if (!may_be_brgemm_ && is_brgemm(name)) return false;
    if (is_replacement && is_of_bytes_ && !adds_bytes_exactly(name)) return false;
    return !may_be_impossible_ || can_be_made(description);
  }

  const ImplementationRank& rank_;
  const bool may_be_brgemm_, is_of_bytes_, may_be_impossible_;
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
  if (!can_be_described(operation)) return {};
  const auto find = [&](const auto& choose) {
    return choose_primitive<dnnl::convolution_forward>(
        engine, attributes, choose, dnnl::prop_kind::forward_inference,
        dnnl::algorithm::convolution_direct, operation.x, operation.weights, operation.bias,
        operation.y, operation.strides, gaps_of(operation.dilations), operation.pads_begin,
        operation.pads_end);
  };
  // A description that was advanced is made again: in 3.x all copies of it advance together.
  const Choice choice(operation, rank);
  std::optional<Choice::Found> found;
  const PrimitiveDesc searched = find([&](PrimitiveDesc description) {
    found = choice.find_in(description);
    return found && found->is_current ? description : PrimitiveDesc();
  });
  if (!found || found->is_current) return searched;
  return find([&](PrimitiveDesc description) {
    for (size_t i = 0; i < found->number; ++i) description.next_impl();
    return description;
  });
}

}  // namespace millrace::device::cpu
