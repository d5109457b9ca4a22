// Measures the preprocessing of a camera picture to the input of a network, and compares it with
// two chains of OpenCV calls with the same filter:
//
//   usual     as programs write it: resize, cvtColor, convertTo floats, subtract the mean, multiply
//             by the scale, convertTo the output's type, split, merge with a plane of zeros
//   shortest  with the fewest passes over the data: resize, cvtColor, split, one convertTo per
//             channel, which normalises and quantises, and merge
//
// A BGR picture of 1920x1080 becomes 224x224 in the layout HCWNC4. All run on the calling thread
// and alternate in short turns, so that changes of the machine's speed affect all alike. Their time
// is the CPU time of the thread, which depends less on other work on the machine. The counters are
// the time of each chain, and Millrace's time divided by it. OpenCV has no BF16; its chains end in
// FP16.
//
// Then Millrace is measured on one core and on two; the second is that of a lane, which sleeps
// before each picture, as between two pictures of a camera. Both threads are pinned, so that they
// run on different cores. These are medians of elapsed time, since other work on the machine delays
// some pictures: one_core_us, two_cores_us and two_cores_ratio.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/process/thread.h"
#include "base/process/topology.h"
#include "queue/lanes/shared_loop.h"
#include "vision/preprocess/preprocess.h"

namespace millrace::vision {
namespace {

using tensor::DataType;

constexpr int kWidth = 1920, kHeight = 1080, kSide = 224;
constexpr std::array<float, 3> kMean = {123.675f, 116.28f, 103.53f};
constexpr std::array<float, 3> kScale = {1 / 58.4f, 1 / 57.1f, 1 / 57.4f};

struct Case {
  std::string name;
  Filter filter;
  int opencv_filter;
  DataType type;
  int opencv_depth;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"bilinear_rgbx_int8", Filter::kBilinear, cv::INTER_LINEAR, DataType::kInt8, CV_8S},
      {"bilinear_rgbx_bf16", Filter::kBilinear, cv::INTER_LINEAR, DataType::kBf16, CV_16F},
      {"area_rgbx_int8", Filter::kArea, cv::INTER_AREA, DataType::kInt8, CV_8S},
      {"area_rgbx_bf16", Filter::kArea, cv::INTER_AREA, DataType::kBf16, CV_16F}};
  return all;
}

float factor_of(const Case& one) {
  return one.type == DataType::kInt8 ? 32.0f : 1.0f;
}

// The chains of OpenCV calls. Their matrices keep their memory from one call to the next.
class OpenCvChain {
 public:
  explicit OpenCvChain(const Case& one)
      : case_(one), zeros_(cv::Mat::zeros(kSide, kSide, one.opencv_depth)) {}

  void run_usual(const cv::Mat& picture) {
    resize(picture);
    rgb_.convertTo(floats_, CV_32F);
    cv::subtract(floats_, cv::Scalar(kMean[0], kMean[1], kMean[2]), floats_);
    const double factor = factor_of(case_);
    cv::multiply(floats_, factor * cv::Scalar(kScale[0], kScale[1], kScale[2]), floats_);
    floats_.convertTo(narrow_, case_.opencv_depth);
    cv::split(narrow_, planes_);
    planes_.push_back(zeros_);
    cv::merge(planes_, result_);
  }

  void run_shortest(const cv::Mat& picture) {
    resize(picture);
    cv::split(rgb_, planes_);
    for (size_t channel = 0; channel < 3; ++channel) {
      const double scale = double{kScale[channel]} * factor_of(case_);
      normalise(planes_[channel], normalised_[channel], scale, -kMean[channel] * scale);
    }
    normalised_[3] = zeros_;
    cv::merge(normalised_, result_);
  }

 private:
  void resize(const cv::Mat& picture) {
    cv::resize(picture, small_, cv::Size(kSide, kSide), 0, 0, case_.opencv_filter);
    cv::cvtColor(small_, rgb_, cv::COLOR_BGR2RGB);
  }

  // OpenCV can convert 8-bit elements to FP16 only by way of FP32.
  void normalise(const cv::Mat& from, cv::Mat& to, double scale, double shift) {
    if (case_.opencv_depth != CV_16F) return from.convertTo(to, case_.opencv_depth, scale, shift);
    from.convertTo(floats_, CV_32F, scale, shift);
    floats_.convertTo(to, CV_16F);
  }

  const Case& case_;
  const cv::Mat zeros_;
  cv::Mat small_, rgb_, floats_, narrow_, result_;
  std::vector<cv::Mat> planes_;
  std::vector<cv::Mat> normalised_ = std::vector<cv::Mat>(4);
};

// Divides the rows of a picture between the calling thread, which is pinned to the first core, and
// a lane, which is pinned to the last.
class TwoCores {
 public:
  TwoCores() : loop_(queue::SharedLoop::create(lanes_).value()) {}
  RowRunner runner() {
    return [this](const RowWork& work) { loop_->run(work.rows, work.task); };
  }

 private:
  queue::Lanes lanes_{{.count = 2, .core = topology().cores.back()}};
  const std::unique_ptr<queue::SharedLoop> loop_;
};

// Millrace's side of a case: a picture and the tensor that it is converted to.
class OneMillrace {
 public:
  OneMillrace(const Case& one, const cv::Mat& picture)
      : source_{SourceFormat::kBgr, kWidth, kHeight, {picture.data}, {picture.step}},
        row_bytes_(kSide * 4 * tensor::size_of(one.type)),
        pixels_(kSide * row_bytes_),
        target_{{Arrangement::kPadded, ChannelOrder::kRgb, one.type},
                kSide,
                kSide,
                {pixels_.data()},
                {row_bytes_}},
        options_{.filter = one.filter, .normalisation = {kMean, kScale, factor_of(one)}} {}

  bool run(const RowRunner& runner = run_serially) {
    return preprocess(source_, {0, 0, kWidth, kHeight}, target_, {0, 0, kSide, kSide}, options_,
                      runner)
        .ok();
  }

 private:
  const SourcePicture source_;
  const size_t row_bytes_;
  std::vector<uint8_t> pixels_;
  const TargetPicture target_;
  const PreprocessOptions options_;
};

double seconds_on(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class Work>
double seconds(clockid_t clock, int rounds, const Work& work) {
  const double start = seconds_on(clock);
  for (int i = 0; i < rounds; ++i) {
    work();
    benchmark::ClobberMemory();
  }
  return seconds_on(clock) - start;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Waits long enough for a lane to fall asleep.
void pause_between_pictures() {
  std::this_thread::sleep_for(std::chrono::microseconds(500));
}

void run(benchmark::State& state, const Case& one) {
  cv::setNumThreads(1);
  cv::Mat picture(kHeight, kWidth, CV_8UC3);
  cv::randu(picture, 0, 256);
  OpenCvChain chain(one);
  OneMillrace millrace(one, picture);
  TwoCores two_cores;

  constexpr int kRounds = 8;
  double ours = 0, usual = 0, shortest = 0;
  std::vector<double> on_one, on_two;
  for (auto _ : state) {
    bool made = true;
    const double turn = seconds(CLOCK_THREAD_CPUTIME_ID, kRounds, [&] { made &= millrace.run(); });
    usual += seconds(CLOCK_THREAD_CPUTIME_ID, kRounds, [&] { chain.run_usual(picture); });
    shortest += seconds(CLOCK_THREAD_CPUTIME_ID, kRounds, [&] { chain.run_shortest(picture); });
    for (int i = 0; i < kRounds; ++i) {
      pause_between_pictures();
      on_one.push_back(seconds(CLOCK_MONOTONIC, 1, [&] { made &= millrace.run(); }));
      pause_between_pictures();
      on_two.push_back(
          seconds(CLOCK_MONOTONIC, 1, [&] { made &= millrace.run(two_cores.runner()); }));
    }
    if (!made) return state.SkipWithError("preprocess failed");
    ours += turn;
    state.SetIterationTime(turn / kRounds);
  }
  const double us = 1e6 / kRounds / static_cast<double>(state.iterations());
  state.counters["usual_us"] = usual * us;
  state.counters["usual_ratio"] = ours / usual;
  state.counters["shortest_us"] = shortest * us;
  state.counters["shortest_ratio"] = ours / shortest;
  state.counters["one_core_us"] = 1e6 * median(on_one);
  state.counters["two_cores_us"] = 1e6 * median(on_two);
  state.counters["two_cores_ratio"] = median(on_two) / median(on_one);
}

void register_cases() {
  for (const Case& one : cases())
    benchmark::RegisterBenchmark(one.name.c_str(), run, one)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace millrace::vision

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (!millrace::pin_this_thread(millrace::topology().cores.front()).ok()) return 1;
  millrace::vision::register_cases();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
