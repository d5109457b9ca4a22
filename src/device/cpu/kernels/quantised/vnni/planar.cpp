#include "device/cpu/kernels/quantised/vnni/planar.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"

namespace millrace::device::cpu::kernels::quantised::vnni {
namespace {

using kernels::depthwise::Geometry;
using kernels::depthwise::kTaps;

void copy_row(const Geometry& g, const uint8_t* from, size_t plane, uint8_t* to) {
  for (size_t i = 0; i < g.channels / kNarrow; ++i)
    for (size_t pixel = 0; pixel < g.width; ++pixel)
      std::memcpy(to + i * plane + pixel * kNarrow, from + pixel * g.channels + i * kNarrow,
                  kNarrow);
}

// The rows in planes. Each replaces the third one before it.
class Rows {
 public:
  Rows(const PlanarLayer& layer, const PlanarWork& work) : layer_(layer), work_(work) {
    std::memset(work.scratch, layer.padding, layer.scratch_bytes());
  }

  // Row numbers wrap around above the image.
  const uint8_t* row(size_t number) const {
    const Geometry& g = layer_.depthwise.geometry;
    const size_t place = number < g.height ? number % kTaps : kTaps;
    return work_.scratch + place * layer_.row_bytes();
  }

  void make(size_t number) {
    const Geometry& g = layer_.depthwise.geometry;
    const uint8_t* const from = work_.image + number * g.width * layer_.channels_in();
    uint8_t* const to = work_.scratch + number % kTaps * layer_.row_bytes() + g.left * kNarrow;
    if (layer_.pointwise)
      vnni::run(*layer_.pointwise, {.image = from,
                                    .filters = work_.pointwise.filters,
                                    .scaling = work_.pointwise.scaling,
                                    .result = to,
                                    .pixels = g.width,
                                    .plane = layer_.plane_bytes()});
    else
      copy_row(g, from, layer_.plane_bytes(), to);
  }

 private:
  const PlanarLayer& layer_;
  const PlanarWork& work_;
};

}  // namespace

size_t PlanarLayer::plane_bytes() const {
  const Geometry& g = depthwise.geometry;
  return align_up(std::max(plane_columns(g), g.left + g.width) * kNarrow, kWide);
}

size_t PlanarLayer::row_bytes() const {
  return depthwise.geometry.channels / kNarrow * plane_bytes();
}

size_t PlanarLayer::scratch_bytes() const {
  return (kTaps + 1) * row_bytes();
}

void run(const PlanarLayer& layer, const PlanarWork& work) noexcept {
  const Geometry& g = layer.depthwise.geometry;
  Rows rows(layer, work);
  size_t made = 0;  // rows before this one are there, as far as they are needed
  for (size_t i = work.first_row; i < work.first_row + work.rows; ++i) {
    const size_t first = i * g.stride, end = std::min(first + kTaps, g.height + g.above);
    made = std::max(made, first < g.above ? 0 : first - g.above);
    for (; made + g.above < end; ++made) rows.make(made);
    PlaneRow row{.under = {},
                 .plane = layer.plane_bytes(),
                 .filters = work.depthwise.filters,
                 .scaling = work.depthwise.scaling,
                 .result = work.result + i * g.out_width * g.channels};
    for (size_t tap = 0; tap < kTaps; ++tap) row.under[tap] = rows.row(first + tap - g.above);
    vnni::run(layer.depthwise, row);
  }
}

}  // namespace millrace::device::cpu::kernels::quantised::vnni
