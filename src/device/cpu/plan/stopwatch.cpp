#include "device/cpu/plan/stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace millrace::device::cpu::plan {
namespace {

using Clock = std::chrono::steady_clock;

// The operands of one primitive, in memory of their own.
class Operands {
 public:
  explicit Operands(const dnnl::engine& engine) : engine_(engine) {}

  void add(int index, const Desc& desc) {
    if (desc.get_size() == 0) return;
    const dnnl::memory memory(desc, engine_);
    // Any normal numbers will do, in FP32 and BF16 alike: arithmetic on zeros may be quicker, and
    // on denormal numbers it is slower.
    constexpr int kNormalNumbers = 0x3c;
    std::memset(memory.get_data_handle(), kNormalNumbers, desc.get_size());
    arguments_.push_back({index, memory.get()});
    memories_.push_back(memory);
  }

  const std::vector<dnnl_exec_arg_t>& arguments() const { return arguments_; }

 private:
  const dnnl::engine& engine_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

uint64_t least_time(const dnnl::primitive& primitive, const Operands& operands,
                    const dnnl::stream& stream) {
  constexpr int kLeastRuns = 4, kMostRuns = 100;
  constexpr std::chrono::milliseconds kLongEnough{10};
  const auto run = [&] {
    const Status status = execute(primitive, stream, operands.arguments());
    if (!status.ok())
      throw dnnl::error(dnnl_runtime_error, "a primitive failed while it was timed");
  };
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

}  // namespace

uint64_t time_convolution(const kernels::Convolution& convolution,
                          const dnnl::convolution_forward::primitive_desc& primitive,
                          const dnnl::engine& engine, const dnnl::stream& stream) {
  Operands operands(engine);
  operands.add(DNNL_ARG_SRC, primitive.src_desc());
  operands.add(DNNL_ARG_WEIGHTS, primitive.weights_desc());
  if (!convolution.bias.empty()) operands.add(DNNL_ARG_BIAS, primitive.bias_desc());
  operands.add(DNNL_ARG_DST, primitive.dst_desc());
  operands.add(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc());
  if (convolution.has_slope) operands.add(prelu_argument(convolution), slope_desc(convolution));
  return least_time(dnnl::convolution_forward(primitive), operands, stream);
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
