// Table: times of kernels of typical convolutions on processors of one instruction set. Tables are
// part of the device, as text (scripts/measure-kernels.py writes them), for where nothing was
// measured on the processor itself.
//
//   # a comment
//   conv TYPE KIND TAPS STRIDE CHANNELS_IN CHANNELS_OUT SIDE FORM NANOSECONDS [FORM NANOSECONDS]...
//   move TYPE ELEMENTS LAYOUT LAYOUT NANOSECONDS
//
// with one space between words. Images are square, the side is that of the result.
//
// Thread-safe once it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device/cpu/builder/form.h"

namespace millrace::device::cpu::plan {

enum class LayerKind : uint8_t {
  kDense,
  kDepthwise,
  kSeparable,  // a 1x1 convolution and the depthwise one behind it, which has the taps
};

// All that a table tells convolutions apart by.
struct Layer {
  ElementType type = ElementType::f32;
  LayerKind kind = LayerKind::kDense;
  uint64_t taps = 1, stride = 1;  // in either direction
  uint64_t channels_in = 1, channels_out = 1;
  uint64_t elements = 1;  // of a channel of the result
  uint64_t images = 1;    // 1 in a table
};

enum class ImageLayout : uint8_t { kPlain, kBlocks, kInnermost };  // C order; channels so

// Position of a layer among those of its kind: logarithms, whose differences are distances.
struct Place {
  double channels_in = 0, channels_out = 0, elements = 0;
};

struct FormTime {
  Form form = Form::kBlocked;
  uint64_t nanoseconds = 0;
  friend bool operator==(const FormTime&, const FormTime&) = default;
};

class Table {
 public:
  // kCorruptData names the line that makes no sense.
  static Result<Table> parse(std::string_view text);

  // The times of the nearest layer that the table has, in proportion to their products; of two that
  // are equally near, whatever the last bits of their distances, the first. Empty where none is
  // near: one of the same kind, type, taps and stride, with whole blocks of channels where this has
  // them, whose channels and elements differ by a factor of 3 at most in all.
  std::vector<FormTime> times(const Layer& layer) const;

  // The time to move so many elements from one layout to the other, in proportion to the nearest
  // number that the table has; none if it has none.
  std::optional<uint64_t> move(ElementType type, uint64_t elements, ImageLayout from,
                               ImageLayout to) const;

 private:
  struct Row {
    Layer layer;
    Place place;
    std::vector<FormTime> times;
  };
  struct Move {
    ElementType type;
    uint64_t elements;
    ImageLayout from, to;
    uint64_t nanoseconds;
  };

  static std::optional<Row> row_of(std::string_view line);
  static std::optional<Move> move_of(std::string_view line);

  std::vector<Row> rows_;
  std::vector<Move> moves_;
};

}  // namespace millrace::device::cpu::plan
