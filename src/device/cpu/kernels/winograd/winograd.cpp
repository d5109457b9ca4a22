// The choice of the tile by an estimate of the time, the division of a convolution among lanes, and
// its step. A result is the same sum however the work is divided, so that the bits do not depend on
// the number of lanes.
#include "device/cpu/kernels/winograd/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/process/topology.h"
#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/convolution/result.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/winograd/loops.h"
#include "device/cpu/steps/parts.h"
#include "tensor/half.h"

namespace millrace::device::cpu::kernels::winograd {
namespace {

// The throughput of one core, measured (docs/performance/convolutions.md).
constexpr double kMultiplicationsPerNs = 80;  // by either algorithm
constexpr double kFloatsPerNs = 4;     // of filters that come from beyond the L2 cache of a core
constexpr double kNsPerChange = 0.04;  // of an element, by the input or the output transform
constexpr double kFasterInBf16 = 2;    // the direct algorithm, by VDPBF16PS
// A smaller gain is not worth other rounding errors and four times the memory for weights.
constexpr double kLeastRatio = 1.3;
// Filters larger than this do not stay in a core's cache.
constexpr size_t kLargeFilters = size_t{1} << 18;

Geometry geometry_with(const Convolution& convolution, size_t tile) {
  const Dims &x = convolution.x, &y = convolution.y;
  const size_t block = from_dim(channel_block());
  return {.tile = tile,
          .block = block,
          .blocks_in = from_dim(x[1]) / block,
          .blocks_out = from_dim(y[1]) / block,
          .height = from_dim(x[2]),
          .width = from_dim(x[3]),
          .out_height = from_dim(y[2]),
          .out_width = from_dim(y[3]),
          .above = from_dim(convolution.op->pads_begin[0]),
          .left = from_dim(convolution.op->pads_begin[1])};
}

double pairs_of_channels(const Geometry& g) {
  return static_cast<double>(g.channels_in()) * static_cast<double>(g.channels_out());
}

// Estimates the time. Small tiles have smaller filters to read, and take more products.
double nanoseconds_of(const Geometry& g) {
  const auto products = static_cast<double>(g.tiles() * g.products());
  const auto channels = static_cast<double>(g.channels_in() + g.channels_out());
  const auto filters = static_cast<double>(g.filter_floats());
  return products * (pairs_of_channels(g) / kMultiplicationsPerNs + channels * kNsPerChange) +
         (g.filter_floats() > kLargeFilters ? filters / kFloatsPerNs : 0);
}

// Returns the geometry of one image of the batch, with the tiles that the estimate finds faster.
Geometry geometry_of(const Convolution& convolution) {
  const Geometry large = geometry_with(convolution, kLargeTile);
  const Geometry small = geometry_with(convolution, kSmallTile);
  return nanoseconds_of(small) < nanoseconds_of(large) ? small : large;
}

// Returns the number of parts, at most `chunks`, that a step is divided into. Each has its own
// scratch memory.
uint32_t parts_with_scratch(const Geometry& geometry, uint32_t chunks) {
  return cpu::parts_with_scratch(chunks, geometry.scratch_floats() * sizeof(float));
}

// The division of a step: by tiles, so that each part reads all filters, or by panels of result
// channels, so that each part transforms all patches.
struct Parts {
  uint32_t count;
  bool by_panels;
};

// Either division gives the same bits, since an element is the same sum in each.
Parts parts_of(const Geometry& g, uint32_t chunks) {
  const bool by_panels = g.panels() >= chunks && g.filter_floats() > kLargeFilters;
  const size_t most = by_panels ? g.panels() : g.tiles();
  return {static_cast<uint32_t>(std::min<size_t>(chunks, most)), by_panels};
}

// Runs one image, with the lanes that help the job. `work` is all of it, and its scratch is that of
// `chunks` parts.
template <class Number>
void run_divided(const RunState& state, const Geometry& geometry, const Finish& finish,
                 uint32_t chunks, const Work<Number>& work) noexcept {
  const Parts parts = parts_of(geometry, chunks);
  run_parts(state, parts.count, [&](uint32_t number) {
    Work<Number> part = work;
    part.scratch += number * geometry.scratch_floats();
    const Share share = share_of(parts.by_panels ? work.panels : work.tiles, number, parts.count);
    (parts.by_panels ? part.first_panel : part.first_tile) = share.first;
    (parts.by_panels ? part.panels : part.tiles) = share.count;
    winograd::run(geometry, finish, part);
  });
}

struct Buffers {
  BufferId x, filters;
  std::optional<BufferId> bias;
  BufferId y, scratch;
};

template <class Number>
class WinogradStep final : public Step {
 public:
  WinogradStep(const Geometry& geometry, size_t images, const Buffers& buffers,
               const Finish& finish, uint32_t chunks)
      : geometry_(geometry), images_(images), buffers_(buffers), finish_(finish), chunks_(chunks) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> all = {buffers_.x, buffers_.filters, buffers_.y, buffers_.scratch};
    if (buffers_.bias) all.push_back(*buffers_.bias);
    return all;
  }

  Status run(const RunState& state) const noexcept override {
    Finish finish = finish_;
    if (buffers_.bias) finish.bias = state.input<float>(*buffers_.bias);
    const Geometry& g = geometry_;
    const size_t image = g.height * g.width * g.channels_in();
    const size_t result = g.out_height * g.out_width * g.channels_out();
    for (size_t i = 0; i < images_; ++i)
      run_divided(state, g, finish, chunks_,
                  Work<Number>{state.input<Number>(buffers_.x) + i * image,
                               state.input<float>(buffers_.filters),
                               state.output<Number>(buffers_.y) + i * result,
                               state.output<float>(buffers_.scratch), 0, g.tiles(), 0, g.panels()});
    return {};
  }

 private:
  const Geometry geometry_;
  const size_t images_;
  const Buffers buffers_;
  const Finish finish_;
  const uint32_t chunks_;
};

// Returns the filters rounded to BF16, as images of BF16 need them.
std::vector<float> rounded(const Geometry& geometry, const float* from) {
  std::vector<float> numbers(geometry.channels_in() * geometry.channels_out() * kTaps * kTaps);
  std::transform(from, from + numbers.size(), numbers.begin(), tensor::nearest_bf16);
  return numbers;
}

Arrangement arrangement_of(const Geometry& geometry, ElementType type) {
  const bool is_bf16 = type == ElementType::bf16;
  return {fmt::format("winograd{} {}, {} by {} blocks of {}, {} at once", is_bf16 ? " bf16" : "",
                      geometry.tile, geometry.blocks_in, geometry.blocks_out, geometry.block,
                      kPanelBlocks),
          geometry.filter_floats() * sizeof(float),
          [geometry, is_bf16](const float* from, std::byte* to) {
            auto* const filters = reinterpret_cast<float*>(to);
            if (is_bf16)
              transform_filters(geometry, rounded(geometry, from).data(), filters);
            else
              transform_filters(geometry, from, filters);
          }};
}

Desc floats(size_t count) {
  return plain_desc({static_cast<int64_t>(count)}, ElementType::f32);
}

// Operands of a step; images are in image_layout().
struct Operands {
  BufferId x = 0;
  graph::ValueId weight = graph::kNoValue;  // a constant
  std::optional<BufferId> bias;             // one number for each channel of y
  BufferId y = 0;
  bool adds = false;  // to what y holds
};

void add_step(Builder& builder, const Convolution& convolution, const Operands& operands,
              const Bounds& bounds) {
  const Geometry geometry = geometry_of(convolution);
  const uint32_t chunks = parts_with_scratch(geometry, builder.chunks());
  const ElementType type = convolution.type;
  const BufferId filters = builder.arranged(operands.weight, arrangement_of(geometry, type));
  const Operand scratch = builder.new_temporary(floats(geometry.scratch_floats() * chunks));
  const Buffers buffers{operands.x, filters, operands.bias, operands.y, scratch.buffer};
  const Finish finish{nullptr, operands.adds, bounds.least, bounds.most};
  const auto add = [&]<class Number>(Number) {
    builder.add("Conv", kName,
                std::make_unique<WinogradStep<Number>>(geometry, from_dim(convolution.x[0]),
                                                       buffers, finish, chunks));
  };
  type == ElementType::bf16 ? add(uint16_t{}) : add(float{});
}

bool computes_in(ElementType type) {
  return type == ElementType::f32 || (type == ElementType::bf16 && !topology().features.amx_bf16);
}

}  // namespace

bool can_compute(const Convolution& convolution) {
  const graph::Conv& op = *convolution.op;
  const auto are = [](const Dims& dims, int64_t number) {
    return std::ranges::all_of(dims, [number](int64_t dim) { return dim == number; });
  };
  return computes_in(convolution.type) && convolution.x.size() == 4 && op.group == 1 &&
         topology().features.avx2 && convolution.weight[2] == kTaps &&
         convolution.weight[3] == kTaps && are(op.strides, 1) && are(op.dilations, 1) &&
         convolution.x[1] % channel_block() == 0 && convolution.y[1] % channel_block() == 0;
}

bool is_worthwhile(const Convolution& convolution) {
  if (!can_compute(convolution)) return false;
  const Geometry g = geometry_of(convolution);
  const auto elements = static_cast<double>(g.out_height * g.out_width);
  const double direct = elements * pairs_of_channels(g) * (kTaps * kTaps) / kMultiplicationsPerNs;
  const double faster = convolution.type == ElementType::bf16 ? kFasterInBf16 : 1;
  return direct > faster * kLeastRatio * nanoseconds_of(g);
}

Desc image_layout(const Dims& dims, ElementType type) {
  return blocked_desc(dims, type, channel_block());
}

uint64_t time(const Convolution& convolution, const Stopwatch& stopwatch) {
  const Geometry g = geometry_of(convolution);
  const uint32_t chunks = parts_with_scratch(g, stopwatch.threads());
  const auto image_of_one = [&](Dims dims) {
    dims[0] = 1;
    return stopwatch.filled(image_layout(dims, convolution.type));
  };
  const dnnl::memory image = image_of_one(convolution.x), result = image_of_one(convolution.y),
                     filters = stopwatch.floats(g.filter_floats()),
                     bias = stopwatch.floats(g.channels_out()),
                     scratch = stopwatch.floats(g.scratch_floats() * chunks);
  const Finish finish{elements_of(bias), convolution.has_residual, 0, 1};
  const RunState state = stopwatch.state();
  const auto time = [&]<class Number>(Number) {
    const Work<Number> work{elements_of<Number>(image),
                            elements_of(filters),
                            elements_of<Number>(result),
                            elements_of(scratch),
                            0,
                            g.tiles(),
                            0,
                            g.panels()};
    return stopwatch.time([&] { run_divided(state, g, finish, chunks, work); });
  };
  const auto images = static_cast<uint64_t>(convolution.x[0]);
  return images * (convolution.type == ElementType::bf16 ? time(uint16_t{}) : time(float{}));
}

Result<bool> lower(Builder& builder, const graph::Node& node, const graph::Conv& op) {
  const Convolution convolution(builder.model().graph, node, op, builder.type());
  if (builder.form() != Form::kWinograd || !builder.is_constant(node.input(1)) ||
      !can_compute(convolution))
    return false;
  Operands operands;
  operands.weight = node.input(1);
  operands.adds = convolution.has_residual;
  MILLRACE_ASSIGN_OR_RETURN(
      const Operand x,
      builder.in_layout(node.input(0), image_layout(convolution.x, convolution.type)));
  if (const graph::ValueId id = node.input(2); id != graph::kNoValue) {
    const Desc plain = plain_desc(convolution.bias, ElementType::f32);
    MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder.packed(id, plain));
    operands.bias = bias.buffer;
  }
  MILLRACE_ASSIGN_OR_RETURN(
      const Operand y, make_result(builder, node, image_layout(convolution.y, convolution.type)));
  operands.x = x.buffer;
  operands.y = y.buffer;
  // An activation follows PRelu, so it is not fused then.
  const auto bounds = convolution.has_slope ? std::nullopt : clamp_bounds(op.activation);
  add_step(builder, convolution, operands, bounds ? *bounds : *clamp_bounds(graph::Activation{}));
  const FusedFunctions done{.prelu = false, .activation = bounds.has_value()};
  MILLRACE_RETURN_IF_ERROR(add_functions(builder, node, convolution, done, y));
  return true;
}

}  // namespace millrace::device::cpu::kernels::winograd
