#include "device/cpu/plan/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "device/cpu/kernels/depthwise/depthwise.h"
#include "device/cpu/kernels/separable/separable.h"
#include "device/cpu/kernels/winograd/winograd.h"

namespace millrace::device::cpu::plan {
namespace {

using Clock = std::chrono::steady_clock;

dnnl::memory filled(const Desc& desc, const dnnl::engine& engine) {
  dnnl::memory memory(desc, engine);
  // Any normal numbers will do, in FP32 and BF16 alike: arithmetic on zeros may be quicker, and on
  // denormal numbers it is slower.
  constexpr int kNormalNumbers = 0x3c;
  std::memset(memory.get_data_handle(), kNormalNumbers, desc.get_size());
  return memory;
}

dnnl::memory floats(size_t count, const dnnl::engine& engine) {
  return filled(plain_desc({static_cast<int64_t>(count)}, ElementType::f32), engine);
}

template <class Number = float>
Number* numbers(const dnnl::memory& memory) {
  return static_cast<Number*>(memory.get_data_handle());
}

// The operands of one primitive, in memory of their own.
class Operands {
 public:
  explicit Operands(const dnnl::engine& engine) : engine_(engine) {}

  void add(int index, const Desc& desc) {
    if (desc.get_size() == 0) return;
    const dnnl::memory memory = filled(desc, engine_);
    arguments_.push_back({index, memory.get()});
    memories_.push_back(memory);
  }

  const std::vector<dnnl_exec_arg_t>& arguments() const { return arguments_; }

 private:
  const dnnl::engine& engine_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

template <class Run>
uint64_t least_time(Run run) {
  constexpr int kLeastRuns = 4, kMostRuns = 100;
  constexpr std::chrono::milliseconds kLongEnough{10};
  run();
  uint64_t least = std::numeric_limits<uint64_t>::max();
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kMostRuns && (i < kLeastRuns || Clock::now() - start < kLongEnough); ++i) {
    const Clock::time_point before = Clock::now();
    run();
    const std::chrono::nanoseconds taken = Clock::now() - before;
    least = std::min(least, static_cast<uint64_t>(taken.count()));
  }
  return least;
}

uint64_t least_time(const dnnl::primitive& primitive, const Operands& operands,
                    const dnnl::stream& stream) {
  return least_time([&] {
    const Status status = execute(primitive, stream, operands.arguments());
    if (!status.ok())
      throw dnnl::error(dnnl_runtime_error, "a primitive failed while it was timed");
  });
}

// Times the separable step on one image of elements T.
template <class T>
uint64_t time_separable_of(const kernels::separable::Geometry& g, const dnnl::engine& engine,
                           const RunState& state, uint32_t threads) {
  const uint32_t chunks = kernels::separable::parts_with_scratch(g, threads);
  constexpr size_t kAllTaps = kernels::separable::kTaps * kernels::separable::kTaps;
  constexpr ElementType kType = sizeof(T) == sizeof(float) ? ElementType::f32 : ElementType::bf16;
  const auto elements = [&](size_t count) {
    return filled(plain_desc({static_cast<int64_t>(count)}, kType), engine);
  };
  const dnnl::memory image = elements(g.image_elements()), result = elements(g.result_elements()),
                     filters = elements(g.channels_in * g.channels_out()),
                     taps = floats(kAllTaps * g.channels_out(), engine),
                     bias = floats(g.channels_out(), engine),
                     scratch = floats(g.scratch_floats() * chunks, engine);
  const kernels::separable::LayerOf<T> first{numbers<T>(filters), numbers(bias), 0, 1};
  const kernels::separable::Layer second{numbers(taps), numbers(bias), 0, 1};
  const kernels::separable::WorkOf<T> work{numbers<T>(image), numbers<T>(result), numbers(scratch),
                                           0, g.out_height};
  return least_time(
      [&] { kernels::separable::run_divided(state, g, first, second, chunks, work); });
}

}  // namespace

uint64_t time_convolution(const kernels::Convolution& convolution,
                          const dnnl::convolution_forward::primitive_desc& primitive,
                          const dnnl::engine& engine, const dnnl::stream& stream, Crew& crew) {
  Operands operands(engine);
  operands.add(DNNL_ARG_SRC, primitive.src_desc());
  operands.add(DNNL_ARG_WEIGHTS, primitive.weights_desc());
  if (!convolution.bias.empty()) operands.add(DNNL_ARG_BIAS, primitive.bias_desc());
  operands.add(DNNL_ARG_DST, primitive.dst_desc());
  operands.add(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc());
  if (convolution.has_slope) operands.add(prelu_argument(convolution), slope_desc(convolution));
  const dnnl::convolution_forward made(primitive);
  crew.run_as(primitive.impl_info_str());
  return least_time(made, operands, stream);
}

uint64_t time_winograd(const kernels::Convolution& convolution, const dnnl::engine& engine,
                       const dnnl::stream& stream, Crew& crew) {
  const kernels::winograd::Geometry g = kernels::winograd::geometry_of(convolution);
  const uint32_t chunks = kernels::winograd::parts_with_scratch(g, crew.threads());
  const auto image_of_one = [&](Dims dims) {
    dims[0] = 1;
    return filled(kernels::winograd::image_layout(dims, convolution.type), engine);
  };
  const dnnl::memory image = image_of_one(convolution.x), result = image_of_one(convolution.y),
                     filters = floats(g.filter_floats(), engine),
                     bias = floats(g.channels_out(), engine),
                     scratch = floats(g.scratch_floats() * chunks, engine);
  const kernels::winograd::Finish finish{numbers(bias), convolution.has_residual, 0, 1};
  const auto images = static_cast<uint64_t>(convolution.x[0]);
  const RunState state{crew.control(), stream, {}, {}};
  const auto time = [&]<class Number>(Number) {
    const kernels::winograd::Work<Number> work{numbers<Number>(image),
                                               numbers(filters),
                                               numbers<Number>(result),
                                               numbers(scratch),
                                               0,
                                               g.tiles(),
                                               0,
                                               g.panels()};
    return least_time([&] { kernels::winograd::run_divided(state, g, finish, chunks, work); });
  };
  return images * (convolution.type == ElementType::bf16 ? time(uint16_t{}) : time(float{}));
}

uint64_t time_depthwise(const kernels::Convolution& convolution, const dnnl::engine& engine,
                        const dnnl::stream& stream, Crew& crew) {
  const kernels::depthwise::Layer layer = kernels::depthwise::layer_of(convolution);
  constexpr size_t kAllTaps = kernels::depthwise::kTaps * kernels::depthwise::kTaps;
  const size_t channels = layer.groups.count() * layer.groups.size;
  const auto zeros_count =
      static_cast<int64_t>(kernels::depthwise::kPaddingPixels * layer.geometry.channels);
  const auto image_of_one = [&](Dims dims) {
    dims[0] = 1;
    return filled(kernels::depthwise::image_layout(dims), engine);
  };
  const dnnl::memory image = image_of_one(convolution.x), result = image_of_one(convolution.y),
                     zeros = filled(plain_desc({zeros_count}, ElementType::bf16), engine),
                     filters = floats(kAllTaps * channels, engine), bias = floats(channels, engine);
  const auto shorts = [](const dnnl::memory& memory) {
    return static_cast<uint16_t*>(memory.get_data_handle());
  };
  const kernels::depthwise::Work work{shorts(image),
                                      shorts(zeros),
                                      numbers(filters),
                                      numbers(bias),
                                      shorts(result),
                                      0,
                                      layer.geometry.out_height};
  const RunState state{crew.control(), stream, {}, {}};
  const auto images = static_cast<uint64_t>(convolution.x[0]);
  return images *
         least_time([&] { kernels::depthwise::run_divided(state, layer, crew.threads(), work); });
}

uint64_t time_separable(const kernels::Convolution& pointwise,
                        const kernels::Convolution& depthwise, const dnnl::engine& engine,
                        const dnnl::stream& stream, Crew& crew) {
  const kernels::separable::Geometry g = kernels::separable::geometry_of(pointwise, depthwise);
  const RunState state{crew.control(), stream, {}, {}};
  const auto images = static_cast<uint64_t>(pointwise.x[0]);
  const bool is_bf16 = pointwise.type == ElementType::bf16;
  return images * (is_bf16 ? time_separable_of<uint16_t>(g, engine, state, crew.threads())
                           : time_separable_of<float>(g, engine, state, crew.threads()));
}

uint64_t time_reorder(const Desc& from, const Desc& to, const dnnl::engine& engine,
                      const dnnl::stream& stream) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc primitive(engine, from, engine, to, attributes);
  Operands operands(engine);
  operands.add(DNNL_ARG_FROM, from);
  operands.add(DNNL_ARG_TO, to);
  operands.add(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc());
  return least_time(dnnl::reorder(primitive), operands, stream);
}

}  // namespace millrace::device::cpu::plan
