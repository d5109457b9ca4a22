// A band is a primitive of its own over a part of the rows: it reads the rows of the image under
// its rows of the result, with padding only at the border of the image, and shares the weights with
// the other bands. All bands use the implementation that oneDNN has chosen for the whole
// convolution.
#include "device/cpu/kernels/convolution/bands.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "device/cpu/dnnl/convolution.h"
#include "device/cpu/dnnl/openmp/calls.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/careful_step.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels {
namespace {

using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

constexpr size_t kRank = 4, kRowDim = 2;
// More bands would make loading slow, since each is a primitive of its own.
constexpr uint32_t kMostBands = 8;

// Rows of an image.
struct Rows {
  int64_t first, count;
};

// A band: rows of the result, the rows of the image that they are computed from, and padding.
struct Band {
  Rows x, y;
  int64_t above, below;  // rows of padding
};

// Whether rows are contiguous, so that some of them are an image, too.
bool has_rows(const Desc& image) {
  const Dims dims = image.dims();
  return dims.size() == kRank && dims[0] == 1 &&
         image == channels_last_desc(dims, image.data_type());
}

Desc only(const Rows& rows, const Desc& image) {
  Dims dims = image.dims();
  dims[kRowDim] = rows.count;
  return channels_last_desc(dims, image.data_type());
}

// Returns the offset of the first row in bytes. Requirement: has_rows(image).
size_t start_of(const Rows& rows, const Desc& image) {
  return image.get_size() / static_cast<size_t>(image.dims()[kRowDim]) *
         static_cast<size_t>(rows.first);
}

// Returns the band with the rows `y` of the result. `taps` is the number of rows of the filter.
Band band_of(const graph::Conv& op, const Rows& y, int64_t height, int64_t taps) {
  const int64_t first = y.first * op.strides[0] - op.pads_begin[0];
  const int64_t end = first + (y.count - 1) * op.strides[0] + (taps - 1) * op.dilations[0] + 1;
  const int64_t from = std::clamp<int64_t>(first, 0, height),
                to = std::clamp<int64_t>(end, 0, height);
  return {{from, to - from}, y, from - first, end - to};
}

// Whether bands are faster. With them each lane reads all weights instead of the whole image.
// Weights are not written, so reading them is faster than reading what another core has just
// written (docs/performance/latency-and-threads.md).
bool pays(const PrimitiveDesc& whole) {
  constexpr size_t kWeightsPerImage = 8;
  return whole.src_desc().get_size() * kWeightsPerImage >= whole.weights_desc().get_size();
}

class BandsStep final : public Step {
 public:
  struct Part {
    dnnl::primitive primitive;
    size_t first_argument, argument_count;
  };
  BandsStep(std::vector<Part> parts, std::vector<Argument> arguments)
      : parts_(std::move(parts)), arguments_(std::move(arguments)) {}

  std::span<const Argument> arguments() const noexcept override { return arguments_; }
  std::span<const Argument> operands() const noexcept override {
    return std::span(arguments_).first(parts_.front().argument_count);
  }
  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids;
    for (const Argument& argument : arguments_) ids.push_back(argument.operand.buffer);
    return ids;
  }

  // Runs as an OpenMP region, not by run_parts(): oneDNN asks OpenMP for the number of its thread.
  Status run(const RunState& state) const noexcept override {
    Whole whole{this, &state, {}, {}};
    openmp::parallel(run_part, &whole, static_cast<unsigned>(parts_.size()), 0);
    if (take_refused_barrier() && whole.failure.ok()) [[unlikely]]
      return refused_barrier();
    return whole.failure;
  }

 private:
  struct Whole {
    const BandsStep* step;
    const RunState* state;
    std::atomic<bool> has_failed;
    Status failure;  // of the part that has set has_failed
  };

  static void run_part(void* data) {
    auto& whole = *static_cast<Whole*>(data);
    const std::vector<Part>& parts = whole.step->parts_;
    const Part& part = parts[static_cast<size_t>(openmp::thread_number())];
    Status status =
        execute(part.primitive, whole.state->stream,
                whole.state->arguments.subspan(part.first_argument, part.argument_count));
    if (!status.ok() && !whole.has_failed.exchange(true)) whole.failure = std::move(status);
  }

  const std::vector<Part> parts_;
  const std::vector<Argument> arguments_;
};

// The bands of one convolution.
class Bands {
 public:
  Bands(Builder& builder, const graph::Conv& op, const PrimitiveDesc& whole)
      : builder_(builder), op_(op), whole_(whole), x_(whole.src_desc()), y_(whole.dst_desc()) {}

  bool is_possible() const {
    const uint32_t count = builder_.chunks();
    return count > 1 && count <= kMostBands && may_be_divided(whole_.impl_info_str()) &&
           has_rows(x_) && has_rows(y_) && y_.dims()[kRowDim] >= count;
  }

  // Returns null if a band consists of padding, or oneDNN has no primitive of that kind for it.
  // Requirement: is_possible().
  std::unique_ptr<const Step> make_step(const std::vector<Argument>& arguments) {
    const std::vector<Band> bands = all_bands();
    if (std::ranges::any_of(bands, [](const Band& band) { return band.x.count <= 0; }))
      return nullptr;
    std::vector<BandsStep::Part> parts;
    std::vector<Argument> all;
    for (const Band& band : bands) {
      const size_t first = all.size();
      add_arguments(band, arguments, all);
      // oneDNN keeps primitives by the number of threads they are made for.
      dnnl::primitive primitive = builder_.for_one_thread([&]() -> dnnl::primitive {
        const PrimitiveDesc desc = describe(band);
        if (desc.get(/*allow_empty=*/true) == nullptr) return {};
        if (const Desc scratch = desc.scratchpad_desc(); scratch.get_size() > 0)
          all.push_back({DNNL_ARG_SCRATCHPAD, builder_.new_temporary(scratch)});
        return dnnl::convolution_forward(desc);
      });
      if (!primitive) return nullptr;
      parts.push_back({std::move(primitive), first, all.size() - first});
    }
    return std::make_unique<BandsStep>(std::move(parts), std::move(all));
  }

 private:
  std::vector<Band> all_bands() const {
    const Dims weights = Desc(whole_.weights_desc()).dims();
    const int64_t taps = weights[weights.size() - 2];
    std::vector<Band> bands;
    for (uint32_t number = 0; number < builder_.chunks(); ++number) {
      const Share share =
          share_of(static_cast<size_t>(y_.dims()[kRowDim]), number, builder_.chunks());
      const Rows rows{static_cast<int64_t>(share.first), static_cast<int64_t>(share.count)};
      bands.push_back(band_of(op_, rows, x_.dims()[kRowDim], taps));
    }
    return bands;
  }

  // Makes a band by the implementation of the whole convolution, so that they share the weights.
  PrimitiveDesc describe(const Band& band) const {
    Dims begin = op_.pads_begin, end = op_.pads_end;
    begin[0] = band.above;
    end[0] = band.below;
    return find_convolution(builder_.engine(), whole_.get_primitive_attr(),
                            {only(band.x, x_), whole_.weights_desc(), whole_.bias_desc(),
                             only(band.y, y_), op_.strides, op_.dilations, begin, end},
                            only_named(whole_.impl_info_str()));
  }

  void add_arguments(const Band& band, const std::vector<Argument>& arguments,
                     std::vector<Argument>& all) const {
    for (Argument argument : arguments) {
      if (argument.index == DNNL_ARG_SRC) {
        argument.operand.desc = only(band.x, x_);
        argument.offset = start_of(band.x, x_);
      } else if (argument.index == DNNL_ARG_DST) {
        argument.operand.desc = only(band.y, y_);
        argument.offset = start_of(band.y, y_);
      }
      all.push_back(argument);
    }
  }

  Builder& builder_;
  const graph::Conv& op_;
  const PrimitiveDesc& whole_;
  const Desc x_, y_;
};

}  // namespace

void add_convolution(Builder& builder, const graph::Conv& op, const ConvolutionPrimitives& made,
                     std::vector<Argument> arguments) {
  const PrimitiveDesc& whole = made.whole;
  std::string implementation = whole.impl_info_str();
  std::unique_ptr<const Step> step;
  Bands bands(builder, op, whole);
  if (bands.is_possible() && pays(whole)) step = bands.make_step(arguments);
  if (step)
    implementation += ", by rows";
  else
    step = primitive_step<dnnl::convolution_forward>(builder, whole, arguments);
  if (!made.unbounded) return builder.add("Conv", std::move(implementation), std::move(step));
  const Operand result = std::ranges::find(arguments, DNNL_ARG_DST, &Argument::index)->operand;
  auto careful = bounded_step(builder,
                              primitive_step<dnnl::convolution_forward>(
                                  builder, *made.unbounded, std::move(arguments), step.get()),
                              result, *last_bounds(op.activation));
  add_careful_step(builder, "Conv", std::move(implementation), std::move(step), std::move(careful),
                   made.adds_in_place);
}

}  // namespace millrace::device::cpu::kernels
