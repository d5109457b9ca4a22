// LayoutCopy holds, for each dimension and each index along it, the distance from the first element
// in both layouts. The position of an element is the sum of the distances of its indices, whatever
// the blocks are. Indices in the padding of the target get zeros.
#include "device/cpu/dnnl/reorder.h"

#include <algorithm>
#include <array>

#include "device/cpu/dnnl/defects.h"
#include "device/cpu/dnnl/layout.h"

namespace millrace::device::cpu {
namespace {

// Returns the distances of the first `count` indices of dimension `dim` from the first element.
std::vector<int64_t> distances(const Layout& layout, size_t dim, int64_t count) {
  std::vector<int64_t> result(static_cast<size_t>(count));
  for (size_t index = 0; index < result.size(); ++index) {
    auto left = static_cast<int64_t>(index);
    int64_t stride = 1;
    for (size_t i = layout.block_count; i-- > 0;) {
      const Block& block = layout.block_array[i];
      if (block.dim == dim) {
        result[index] += left % block.size * stride;
        left /= block.size;
      }
      stride *= block.size;
    }
    result[index] += left * layout.strides[dim];
  }
  return result;
}

// Whether the memory holds elements and padding only: oneDNN may add sums of weights after them.
bool has_elements_only(const Desc& desc, const Layout& layout) {
  if (layout.block_count == 0) return true;
  Layout::Extents blocks{};
  blocks.fill(1);
  for (const Block& block : layout.blocks()) blocks[block.dim] *= block.size;
  int64_t elements = 1;
  for (const Block& block : layout.blocks()) elements *= block.size;
  // A view has gaps, so this is not the number of elements.
  for (size_t i = 0; i < layout.rank; ++i)
    elements = std::max(elements, layout.padded_dims[i] / blocks[i] * layout.strides[i]);
  return desc.get_size() <=
         static_cast<size_t>(elements) * dnnl::memory::data_type_size(desc.data_type());
}

// Whether the elements are further apart than in a dense layout.
bool have_gaps(const Desc& desc) {
  return !is_dense(from_first_element(desc));
}

// Whether oneDNN's reorder to the layout adds the right sums of weights behind the elements, but
// loses elements beside the padding.
bool loses_elements_beside_sums(const Desc& to) {
  if (kReordersEveryLayout) return false;
  const auto target = layout_of(to);
  return target && target->padded_dims != target->dims && !has_elements_only(to, *target);
}

}  // namespace

bool reorders_rightly(const Desc& from, const Desc& to) {
  if (kReordersEveryLayout) return true;
  const auto source = layout_of(from), target = layout_of(to);
  if (!source || !target || !has_elements_only(to, *target)) return true;
  return target->padded_dims == target->dims && !(have_gaps(to) && have_same_strides(from, to));
}

LayoutCopy::LayoutCopy(const Desc& from, const Desc& to)
    : element_size_(dnnl::memory::data_type_size(to.data_type())) {
  const Layout source = layout_of(from).value(), target = layout_of(to).value();
  from_start_ = source.offset;
  to_start_ = target.offset;
  for (size_t dim = 0; dim < source.rank; ++dim)
    axes_.push_back({distances(source, dim, source.dims[dim]),
                     distances(target, dim, target.padded_dims[dim])});
}

void LayoutCopy::run(const std::byte* from, std::byte* to) const noexcept {
  switch (element_size_) {
    case 1:
      return copy(reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint8_t*>(to));
    case 2:
      return copy(reinterpret_cast<const uint16_t*>(from), reinterpret_cast<uint16_t*>(to));
    default:
      return copy(reinterpret_cast<const uint32_t*>(from), reinterpret_cast<uint32_t*>(to));
  }
}

class LayoutCopy::Position {
 public:
  explicit Position(const LayoutCopy& copy) : copy_(copy), rank_(copy.axes_.size() - 1) {}

  bool is_padding() const {
    for (size_t i = 0; i < rank_; ++i)
      if (index_[i] >= copy_.axes_[i].from.size()) return true;
    return false;
  }
  int64_t read_from() const { return sum(copy_.from_start_, &Axis::from); }
  int64_t write_to() const { return sum(copy_.to_start_, &Axis::to); }

  // Returns false behind the last position.
  bool advance() {
    for (size_t i = rank_; i-- > 0;) {
      if (++index_[i] < copy_.axes_[i].to.size()) return true;
      index_[i] = 0;
    }
    return false;
  }

 private:
  int64_t sum(int64_t start, std::vector<int64_t> Axis::*distances) const {
    for (size_t i = 0; i < rank_; ++i) start += (copy_.axes_[i].*distances)[index_[i]];
    return start;
  }

  const LayoutCopy& copy_;
  const size_t rank_;
  std::array<size_t, Layout::kMostDims> index_{};
};

template <class Element>
void LayoutCopy::copy(const Element* from, Element* to) const noexcept {
  const auto& [read, write] = axes_.back();
  Position position(*this);
  do {
    Element* const y = to + position.write_to();
    size_t copied = 0;
    if (!position.is_padding()) {
      const Element* const x = from + position.read_from();
      for (; copied < read.size(); ++copied) y[write[copied]] = x[read[copied]];
    }
    for (size_t i = copied; i < write.size(); ++i) y[write[i]] = Element{0};
  } while (position.advance());
}

void reorder(const dnnl::engine& engine, const dnnl::stream& stream, const Desc& from,
             const void* elements, const Desc& to, void* data) {
  if (!reorders_rightly(from, to)) {
    if (from.data_type() == to.data_type())
      return LayoutCopy(from, to).run(static_cast<const std::byte*>(elements),
                                      static_cast<std::byte*>(data));
    const Desc plain = plain_desc(from.dims(), to.data_type());
    std::vector<std::byte> converted(plain.get_size());
    reorder(engine, stream, from, elements, plain, converted.data());
    return reorder(engine, stream, plain, converted.data(), to, data);
  }
  dnnl::memory source(from, engine, const_cast<void*>(elements));
  dnnl::memory target(to, engine, data);
  dnnl::reorder(source, target).execute(const_cast<dnnl::stream&>(stream), source, target);
  if (loses_elements_beside_sums(to))
    LayoutCopy(from, to).run(static_cast<const std::byte*>(elements),
                             static_cast<std::byte*>(data));
}

}  // namespace millrace::device::cpu
