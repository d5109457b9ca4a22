#include "device/cpu/accelerated/integer_product_steps.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "device/cpu/accelerated/integer_loops.h"

namespace millrace::device::cpu::accelerated::integer_product {
namespace {

using tensor::DataType;
using Made = Completion::Made;

class FrameStep final : public Step {
 public:
  FrameStep(const Shape& shape, bool is_channels_last, DataType type, const FrameBuffers& buffers)
      : shape_(shape),
        is_channels_last_(is_channels_last),
        shift_(shift_of(type)),
        buffers_(buffers) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {buffers_.from, buffers_.to};
    if (buffers_.zero) ids.push_back(*buffers_.zero);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    const uint8_t zero = (buffers_.zero ? *state.input<uint8_t>(*buffers_.zero) : 0) ^ shift_;
    const size_t before = channels() * static_cast<size_t>(shape_.pads_begin[1]);
    const size_t row = channels() * columns();
    const size_t after = channels() * static_cast<size_t>(shape_.pads_end[1]);
    const auto above = static_cast<size_t>(shape_.pads_begin[0]) * (before + row + after);
    const auto below = static_cast<size_t>(shape_.pads_end[0]) * (before + row + after);
    uint8_t* to = state.output<uint8_t>(buffers_.to);
    const auto fill = [&](size_t count) {
      std::memset(to, zero, count);
      to += count;
    };
    for (size_t image = 0; image < static_cast<size_t>(shape_.images); ++image) {
      const uint8_t* const from = state.input<uint8_t>(buffers_.from) + image * rows() * row;
      fill(above);
      for (size_t y = 0; y < rows(); ++y) {
        fill(before);
        copy_row(from, y, to);
        to += row;
        fill(after);
      }
      fill(below);
    }
    return {};
  }

 private:
  size_t channels() const { return static_cast<size_t>(shape_.channels()); }
  size_t rows() const { return static_cast<size_t>(shape_.size[0]); }
  size_t columns() const { return static_cast<size_t>(shape_.size[1]); }

  void copy_row(const uint8_t* from, size_t y, uint8_t* to) const {
    if (!is_channels_last_) return transpose_row(from + y * columns(), to);
    const size_t count = columns() * channels();
    for (size_t i = 0; i < count; ++i) to[i] = from[y * count + i] ^ shift_;
  }

  // Transposes as many channels at a time as fill a vector.
  void transpose_row(const uint8_t* from, uint8_t* to) const {
    constexpr size_t kBlock = 16;
    const size_t plane = rows() * columns();
    for (size_t begin = 0; begin < channels(); begin += kBlock) {
      const size_t end = std::min(begin + kBlock, channels());
      for (size_t x = 0; x < columns(); ++x)
        for (size_t c = begin; c < end; ++c) to[x * channels() + c] = from[c * plane + x] ^ shift_;
    }
  }

  const Shape shape_;
  const bool is_channels_last_;
  const uint8_t shift_;
  const FrameBuffers buffers_;
};

class UnfoldStep final : public Step {
 public:
  UnfoldStep(const Shape& shape, BufferId from, BufferId to)
      : shape_(shape), from_(from), to_(to) {}

  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const uint8_t* from = state.input<uint8_t>(from_);
    uint8_t* to = state.output<uint8_t>(to_);
    for (int64_t image = 0; image < shape_.images; ++image) {
      for (int64_t y = 0; y < shape_.positions[0]; ++y)
        for (int64_t x = 0; x < shape_.positions[1]; ++x)
          to = copy_window(from, y * shape_.strides[0], x * shape_.strides[1], to);
      from += shape_.padded(0) * shape_.padded(1) * shape_.inputs;
    }
    return {};
  }

 private:
  uint8_t* copy_window(const uint8_t* image, int64_t top, int64_t left, uint8_t* to) const {
    const auto inputs = static_cast<size_t>(shape_.inputs);
    for (int64_t i = 0; i < shape_.kernel[0]; ++i)
      for (int64_t k = 0; k < shape_.kernel[1]; ++k, to += inputs) {
        const int64_t y = top + i * shape_.dilations[0], x = left + k * shape_.dilations[1];
        std::memcpy(to, image + (y * shape_.padded(1) + x) * shape_.inputs, inputs);
      }
    return to;
  }

  const Shape shape_;
  const BufferId from_, to_;
};

class CompleteStep final : public Step {
 public:
  CompleteStep(const Plan& plan, DataType type, const Completion& completion)
      : images_(static_cast<size_t>(plan.shape.images)),
        positions_(static_cast<size_t>(plan.shape.positions[0] * plan.shape.positions[1])),
        stride_(static_cast<size_t>(plan.weights.rows())),
        filter_(static_cast<uint32_t>(plan.shape.filter())),
        weight_sums_(plan.weights.sums),
        zeros_(plan.weights.zeros),
        type_(type),
        completion_(completion) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {completion_.sums, completion_.to, completion_.offsets,
                                 completion_.scales, completion_.biases};
    for (const auto& id : {completion_.zero, completion_.scale, completion_.bias})
      if (id) ids.push_back(*id);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    fill_offsets(state);
    const IntegerRows all = {state.input<int32_t>(completion_.sums),
                             images_ * positions_,
                             columns(),
                             stride_,
                             state.input<int32_t>(completion_.offsets),
                             zeros_.empty() ? nullptr : zeros_.data()};
    if (completion_.made == Made::kIntegers) {
      complete_rows(all, state.output<int32_t>(completion_.to));
    } else if (completion_.made == Made::kTransposedIntegers) {
      transpose_images(all, state.output<int32_t>(completion_.to));
    } else {
      // Adding -0 changes nothing.
      fill(state, completion_.scale, completion_.scale_per_channel, 1, completion_.scales);
      fill(state, completion_.bias, completion_.bias_per_channel, -0.0f, completion_.biases);
      scale_rows(all, state.input<float>(completion_.scales),
                 state.input<float>(completion_.biases), state.output<float>(completion_.to));
    }
    return {};
  }

 private:
  size_t columns() const { return weight_sums_.size(); }

  // n x0 w0 - x0 sum w, wrapping around.
  void fill_offsets(const RunState& state) const {
    uint8_t zero = shift_of(type_);
    if (completion_.zero) zero ^= *state.input<uint8_t>(*completion_.zero);
    int32_t* const offsets = state.output<int32_t>(completion_.offsets);
    for (size_t i = 0; i < columns(); ++i) {
      const uint32_t taken = zeros_.empty() ? 0 : filter_ * static_cast<uint32_t>(zeros_[i]);
      offsets[i] = static_cast<int32_t>(zero * (taken - static_cast<uint32_t>(weight_sums_[i])));
    }
  }

  void fill(const RunState& state, std::optional<BufferId> from, bool per_channel, float absent,
            BufferId to) const {
    const float* const given = from ? state.input<float>(*from) : &absent;
    for (size_t i = 0; i < columns(); ++i) state.output<float>(to)[i] = given[per_channel ? i : 0];
  }

  void transpose_images(IntegerRows rows, int32_t* to) const {
    rows.rows = positions_;
    for (size_t image = 0; image < images_; ++image) {
      transpose_rows(rows, to);
      rows.sums += positions_ * stride_;
      to += positions_ * columns();
    }
  }

  const size_t images_, positions_, stride_;
  const uint32_t filter_;
  const std::vector<int32_t> weight_sums_, zeros_;
  const DataType type_;
  const Completion completion_;
};

}  // namespace

std::unique_ptr<const Step> make_frame_step(const Shape& shape, bool is_channels_last,
                                            DataType type, const FrameBuffers& buffers) {
  return std::make_unique<FrameStep>(shape, is_channels_last, type, buffers);
}

std::unique_ptr<const Step> make_unfold_step(const Shape& shape, BufferId from, BufferId to) {
  return std::make_unique<UnfoldStep>(shape, from, to);
}

std::unique_ptr<const Step> make_complete_step(const Plan& plan, DataType type,
                                               const Completion& completion) {
  return std::make_unique<CompleteStep>(plan, type, completion);
}

}  // namespace millrace::device::cpu::accelerated::integer_product
