// Measures the conversion between CPU and HW views, and compares it with memcpy.
//
// The rate counts the bytes read plus those written. Each case is compared with a memcpy that reads
// and writes as many bytes in total, between buffers of its own. The two alternate in short turns,
// so that changes of the machine's speed affect both alike. Counters: `GB/s` of the conversion,
// `memcpy` in GB/s, and `ratio`, the first divided by the second.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "tensor/conversion/conversion.h"

namespace millrace::tensor {
namespace {

using Clock = std::chrono::steady_clock;

struct Case {
  std::string name;
  std::vector<uint32_t> shape;
  DataType type;
  Layout layout;
};

std::vector<Case> cases() {
  const std::vector<uint32_t> image = {1, 3, 224, 224}, features = {1, 64, 56, 56};
  return {{"image_bf16_hcwnc4", image, DataType::kBf16, Layout::kHcwnc4},
          {"image_fp16_hcwnc4", image, DataType::kFp16, Layout::kHcwnc4},
          {"image_float_hcwnc4", image, DataType::kFloat32, Layout::kHcwnc4},
          {"image_int8_hcwnc4", image, DataType::kInt8, Layout::kHcwnc4},
          {"features_bf16_hcwnc8", features, DataType::kBf16, Layout::kHcwnc8},
          {"features_float_hcwnc8", features, DataType::kFloat32, Layout::kHcwnc8},
          {"features_int8_hcwnc16", features, DataType::kInt8, Layout::kHcwnc16},
          {"features_bf16_nchw", features, DataType::kBf16, Layout::kNchw},
          {"features_fp16_nchw", features, DataType::kFp16, Layout::kNchw},
          {"features_int8_nchw", features, DataType::kInt8, Layout::kNchw},
          {"features_float_nhwc", features, DataType::kFloat32, Layout::kNhwc}};
}

template <class Work>
double seconds(int rounds, const Work& work) {
  const auto start = Clock::now();
  for (int i = 0; i < rounds; ++i) {
    work();
    benchmark::ClobberMemory();
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void run(benchmark::State& state, const Case& one, bool towards_hw) {
  const TensorDesc cpu = make_cpu_desc(one.name, DataType::kFloat32, one.shape);
  const TensorDesc hw = *make_hw_desc(cpu, one.type, one.layout);
  const Conversion conversion = *Conversion::plan(cpu, hw, {0.03125, 0});
  std::vector<float> plain(cpu.elements(), 1.25f);
  std::vector<std::byte> native(hw.bytes());
  const size_t half = (cpu.bytes() + hw.bytes()) / 2;
  std::vector<std::byte> source(half, std::byte{1}), target(half);

  constexpr int kRounds = 16;
  double converting = 0, copying = 0;
  for (auto _ : state) {
    const double turn = seconds(kRounds, [&] {
      if (towards_hw)
        conversion.to_hw(plain.data(), native.data());
      else
        conversion.to_cpu(native.data(), plain.data());
    });
    copying += seconds(kRounds, [&] { std::memcpy(target.data(), source.data(), half); });
    converting += turn;
    state.SetIterationTime(turn / kRounds);
  }
  const double bytes =
      2.0 * static_cast<double>(half) * kRounds * static_cast<double>(state.iterations()) / 1e9;
  state.counters["GB/s"] = bytes / converting;
  state.counters["memcpy"] = bytes / copying;
  state.counters["ratio"] = copying / converting;
}

void register_cases() {
  for (const Case& one : cases())
    for (const bool towards_hw : {true, false})
      benchmark::RegisterBenchmark((one.name + (towards_hw ? "/to_hw" : "/to_cpu")).c_str(), run,
                                   one, towards_hw)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace millrace::tensor

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  millrace::tensor::register_cases();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
