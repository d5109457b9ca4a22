// Each rank is a thread with a communicator of Millrace over TCP and one of Gloo. Blocks of calls
// of both alternate; all ranks begin a block together.
#include "bench/ranks/all_reduce.h"

#include <fmt/format.h>

#include <barrier>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "bench/median.h"
#include "bench/ranks/gloo_rank.h"
#include "bench/ranks/meeting_place.h"
#include "ranks/connect.h"

namespace millrace::bench {
namespace {

constexpr std::chrono::seconds kLong(60);

struct Size {
  size_t bytes;
  int calls;      // number of calls in a block, in which one side runs alone
  double target;  // target of the ratio; 0: none
};
constexpr Size kSizes[] = {{4 << 10, 500, 1.5}, {64 << 10, 200, 0}, {16 << 20, 3, 1.1}};
constexpr int kRounds = 15;

// The times that rank 0 has measured for one size, by round.
struct Times {
  std::vector<double> ours, gloo;  // microseconds for each call
};

class Comparison {
 public:
  explicit Comparison(uint32_t ranks)
      : ranks_(ranks), place_(free_meeting_place()), start_(ranks), times_(std::size(kSizes)) {}

  std::vector<Times> run() {
    std::vector<std::thread> others;
    for (uint32_t rank = 1; rank < ranks_; ++rank)
      others.emplace_back([this, rank] { run_rank(rank); });
    run_rank(0);
    for (std::thread& other : others) other.join();
    return times_;
  }

 private:
  void run_rank(uint32_t rank) {
    const auto ours = ranks::connect({.place = place_,
                                      .rank = rank,
                                      .ranks = ranks_,
                                      .token = {},
                                      .limit = {std::chrono::steady_clock::now() + kLong, nullptr}},
                                     kLong)
                          .value();
    GlooRank gloo(store_, rank, ranks_);
    for (size_t i = 0; i < std::size(kSizes); ++i) {
      std::vector<float> data(kSizes[i].bytes / sizeof(float));
      const auto reduce_by_us = [&] {
        const auto bytes = std::as_writable_bytes(std::span(data));
        const Status status =
            ours->all_reduce(bytes, bytes, ranks::Element::kFloat32, ranks::Reduction::kSum, {});
        if (!status.ok()) throw std::runtime_error(status.to_string());
      };
      const auto reduce_by_gloo = [&] { gloo.all_reduce(data); };
      for (int round = -1; round < kRounds; ++round) {  // round -1 warms up
        const double own = microseconds_each(kSizes[i].calls, reduce_by_us);
        const double bare = microseconds_each(kSizes[i].calls, reduce_by_gloo);
        if (rank != 0 || round < 0) continue;
        times_[i].ours.push_back(own);
        times_[i].gloo.push_back(bare);
      }
    }
    ours->leave(kLong);
  }

  template <class Call>
  double microseconds_each(int calls, Call&& call) {
    start_.arrive_and_wait();
    const int64_t begin = now_ns();
    for (int i = 0; i < calls; ++i) call();
    return static_cast<double>(now_ns() - begin) * 1e-3 / calls;
  }

  const uint32_t ranks_;
  const std::string place_;
  gloo::rendezvous::HashStore store_;
  std::barrier<> start_;
  std::vector<Times> times_;  // by size; written by rank 0
};

void report(uint32_t ranks, const Size& size, const Times& times) {
  std::vector<double> ratios;
  for (size_t i = 0; i < times.ours.size(); ++i) ratios.push_back(times.ours[i] / times.gloo[i]);
  const double ratio = median(ratios);
  fmt::print("{} ranks, {:>5} KiB: {:>8.1f} us, Gloo {:>8.1f} us, {:.2f} times as long{}\n", ranks,
             size.bytes >> 10, median(times.ours), median(times.gloo), ratio,
             size.target == 0 ? "" : fmt::format(" (target {})", size.target));
}

}  // namespace

void report_all_reduce() {
  fmt::print("\nall-reduce of FLOAT32, ranks are threads, medians of {} rounds that alternate\n",
             kRounds);
  for (const uint32_t ranks : {2, 4}) {
    const std::vector<Times> times = Comparison(ranks).run();
    for (size_t i = 0; i < std::size(kSizes); ++i) report(ranks, kSizes[i], times[i]);
  }
}

}  // namespace millrace::bench
