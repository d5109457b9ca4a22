// The native API in steady state allocates nothing: a program of its own, because it counts every
// operator new.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <span>
#include <thread>

#include "tests/api/native_fixture.h"
#include "tests/support/steady_allocations.h"

namespace millrace::test {
namespace {

class NativeAllocation : public NativeApi {
 protected:
  NativeAllocation() { faults().release(); }

  Unit unit_ = make_unit({.depth = 4});
};

TEST_F(NativeAllocation, SubmitAndWait) {
  EXPECT_EQ(steady_allocations([&] {
              Result<Job> first = unit_.submit(model_, memory_.args());
              Result<Job> second = unit_.submit(model_, memory_.args());
              return first.ok() && second.ok() && second->wait().ok() && first->wait().ok();
            }),
            0u);
}

TEST_F(NativeAllocation, SubmitSeveral) {
  const std::array<JobArgs, 4> args = {memory_.args(), memory_.args(), memory_.args(),
                                       memory_.args()};
  EXPECT_EQ(steady_allocations([&] {
              std::array<Job, 4> jobs;
              bool ok = unit_.submit_n(model_, args, jobs).ok();
              for (Job& job : jobs) ok &= job.wait().ok();
              return ok;
            }),
            0u);
}

TEST_F(NativeAllocation, SubmitWithACallback) {
  std::atomic<int> calls{0};
  int submitted = 0;
  EXPECT_EQ(steady_allocations([&] {
              Result<Job> job =
                  unit_.submit(model_, memory_.args([&](JobId, const Status&) { ++calls; }));
              ++submitted;
              while (calls.load() < submitted) std::this_thread::yield();
              return job.ok() && job->wait().ok();
            }),
            0u);
}

TEST_F(NativeAllocation, Execute) {
  EXPECT_EQ(steady_allocations([&] { return unit_.execute(model_, memory_.args()).ok(); }), 0u);
}

// The dimensions of this model are settled by each job.
TEST(NativeAllocationOfOpenTensors, SubmitAndWait) {
  setenv("MILLRACE_PLUGIN_DIR", MILLRACE_OPEN_PLUGIN_DIR, 1);
  Device device = Device::open("open").value();
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_tiny_model(directory.file("tiny.rai")).ok());
  const Model model = device.load(directory.file("tiny.rai")).value();
  Unit unit = device.create_unit({.depth = 2}).value();
  std::array<float, 6> elements{}, result{};
  TensorShape in{.rank = 2, .dims = {2, 3}}, out;
  TensorArg input{std::span(elements)}, output{std::span(result)};
  input.shape = &in;
  output.shape = &out;
  const JobArgs args{.inputs = {&input, 1}, .outputs = {&output, 1}};
  EXPECT_EQ(steady_allocations([&] {
              Result<Job> job = unit.submit(model, args);
              return job.ok() && job->wait().ok();
            }),
            0u);
  unsetenv("MILLRACE_PLUGIN_DIR");
}

}  // namespace
}  // namespace millrace::test
