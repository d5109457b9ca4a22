// Observers of a running request: every one of them is called, that of the outermost scope first.
#include "queue/requests/run_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace millrace::queue {
namespace {

using testing::ElementsAre;

class Recorder final : public ProgressObserver {
 public:
  Recorder(std::string name, std::vector<std::string>& calls)
      : name_(std::move(name)), calls_(calls) {}
  void on_progress(const RunControl& control) noexcept override {
    calls_.push_back(name_ + " step " + std::to_string(control.position().step));
  }
  void on_steps_done(const RunControl&) noexcept override { calls_.push_back(name_ + " done"); }

 private:
  const std::string name_;
  std::vector<std::string>& calls_;
};

class RunControlObservers : public testing::Test {
 protected:
  std::vector<std::string> take() { return std::exchange(calls_, {}); }

  std::vector<std::string> calls_;
  Recorder outer_{"outer", calls_};
  Recorder middle_{"middle", calls_};
  Recorder inner_{"inner", calls_};
  RunControl control_;
};

TEST_F(RunControlObservers, AreAllCalledOutermostFirst) {
  const ObserverScope first(control_, outer_);
  const ObserverScope second(control_, middle_);
  const ObserverScope third(control_, inner_);
  control_.begin_step(7);
  EXPECT_THAT(take(), ElementsAre("outer step 7", "middle step 7", "inner step 7"));
  control_.end_steps();
  EXPECT_THAT(take(), ElementsAre("outer done", "middle done", "inner done"));
}

TEST_F(RunControlObservers, AreCalledWithinTheirScopeOnly) {
  control_.begin_step(1);
  {
    const ObserverScope first(control_, outer_);
    { const ObserverScope second(control_, inner_); }
    control_.begin_step(2);
    EXPECT_TRUE(control_.is_observed());
  }
  control_.begin_step(3);
  control_.end_steps();
  EXPECT_THAT(take(), ElementsAre("outer step 2"));
  EXPECT_FALSE(control_.is_observed());
}

TEST_F(RunControlObservers, MayComeBackInAnotherScope) {
  { const ObserverScope first(control_, inner_); }
  const ObserverScope second(control_, outer_);
  const ObserverScope third(control_, inner_);
  control_.begin_frame(0);
  EXPECT_THAT(take(), ElementsAre("outer step 0", "inner step 0"));
}

}  // namespace
}  // namespace millrace::queue
