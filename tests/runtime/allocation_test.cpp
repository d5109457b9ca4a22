// Sessions in steady state allocate nothing: a program of its own, because it counts every operator
// new.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "device/null/null_device.h"
#include "tests/runtime/session_fixture.h"
#include "tests/support/steady_allocations.h"

namespace millrace::runtime {
namespace {

class SessionAllocation : public ::testing::Test {
 protected:
  std::shared_ptr<device::Device> device_ = device::create_null_device({.lanes = 2}).value();
  std::unique_ptr<Session> session_ =
      Session::create(
          device_,
          device_->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value())
          .value();
  JobMemory memory_{session_->model()};
};

TEST_F(SessionAllocation, SubmitAndWait) {
  EXPECT_EQ(test::steady_allocations([&] {
              const Result<SessionJobId> first = session_->submit(memory_.bindings());
              const Result<SessionJobId> second = session_->submit(memory_.bindings());
              return first.ok() && second.ok() && session_->wait(*first, kForever).ok() &&
                     session_->wait(*second, kForever).ok();
            }),
            0u);
}

TEST_F(SessionAllocation, SubmitWithACallback) {
  std::atomic<int> calls{0};
  int submitted = 0;
  EXPECT_EQ(test::steady_allocations([&] {
              const Result<SessionJobId> id =
                  session_->submit(memory_.bindings(), [&](uint64_t, const Status&) { ++calls; });
              ++submitted;
              while (calls.load() < submitted) std::this_thread::yield();
              return id.ok() && session_->wait(*id, kForever).ok();
            }),
            0u);
}

TEST_F(SessionAllocation, Execute) {
  EXPECT_EQ(test::steady_allocations([&] { return session_->execute(memory_.bindings()).ok(); }),
            0u);
}

}  // namespace
}  // namespace millrace::runtime
