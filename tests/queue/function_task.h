// A task whose work a test gives as a function, and short ways to make units of such tasks.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "queue/unit.h"

namespace millrace::queue {

class FunctionTask final : public Task {
 public:
  Status run(LaneId lane) noexcept override { return work(lane); }
  void release() noexcept override { work = nullptr; }

  std::function<Status(LaneId)> work;
};

inline UnitOptions function_unit(uint32_t depth) {
  UnitOptions options;
  options.name = "test";
  options.depth = depth;
  options.make_task = [] { return std::make_unique<FunctionTask>(); };
  return options;
}

inline std::unique_ptr<Unit> make_unit(Lanes& lanes, UnitOptions options) {
  Result<std::unique_ptr<Unit>> unit = Unit::create(lanes, std::move(options));
  EXPECT_TRUE(unit.ok()) << unit.status().to_string();
  return *std::move(unit);
}

inline std::unique_ptr<Unit> make_unit(Lanes& lanes, uint32_t depth) {
  return make_unit(lanes, function_unit(depth));
}

inline Result<SequenceId> submit(Unit& unit, std::function<Status(LaneId)> work,
                                 Callback callback = {}) {
  return unit.submit([&](Task& task) { static_cast<FunctionTask&>(task).work = std::move(work); },
                     std::move(callback));
}

inline Status nothing(LaneId) {
  return {};
}

inline constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24);

}  // namespace millrace::queue
