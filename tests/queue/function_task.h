// A task whose work a test gives as a function, and short ways to make units of such tasks.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "queue/units/unit.h"

namespace millrace::queue {

using Listener = std::function<void(const Completion&)>;

class FunctionTask final : public Task {
 public:
  // The listener is called for every request of the task, after its sequence was published.
  explicit FunctionTask(Listener listener = {}) : listener_(std::move(listener)) {}

  Status run(RunControl& control) noexcept override { return work(control); }
  void on_published(const Completion& completion) noexcept override {
    if (listener_) listener_(completion);
  }
  void release() noexcept override { work = nullptr; }
  std::string describe(const RunPosition&) const override { return "the test's function"; }

  std::function<Status(RunControl&)> work;

 private:
  const Listener listener_;
};

inline UnitOptions function_unit(uint32_t depth, Listener listener = {}) {
  UnitOptions options;
  options.name = "test";
  options.depth = depth;
  options.make_task = [listener] { return std::make_unique<FunctionTask>(listener); };
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

// Adapts the work of a test's request: a function of RunControl&, of LaneId, or of nothing.
template <class Work>
std::function<Status(RunControl&)> work_of(Work work) {
  if constexpr (std::is_invocable_v<Work&, RunControl&>)
    return work;
  else if constexpr (std::is_invocable_v<Work&, LaneId>)
    return [work](RunControl& control) mutable { return work(control.lane()); };
  else
    return [work](RunControl&) mutable { return work(); };
}

template <class Work>
auto fill_with(Work work) {
  return [work = work_of(std::move(work))](Task& task) mutable {
    static_cast<FunctionTask&>(task).work = std::move(work);
  };
}

template <class Work>
Result<SequenceId> submit(Unit& unit, Work work, Callback callback = {},
                          Deadline deadline = kNoDeadline) {
  return unit.submit(fill_with(std::move(work)),
                     {.callback = std::move(callback), .deadline = deadline});
}

inline Status nothing(LaneId) {
  return {};
}

inline constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24);

}  // namespace millrace::queue
