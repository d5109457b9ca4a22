// Faults and the watchdog that the environment asks for, and which jobs faults affect.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/hooks.h"
#include "base/unique_fd.h"
#include "device/faulty/fault_plan.h"
#include "queue/requests/ids.h"
#include "tests/api/native_fixture.h"

namespace millrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Faults : public NativeApi {
 protected:
  Faults() { faults().release(); }

  StatusCode execute(Unit& unit) { return unit.execute(model_, memory_.args()).code(); }
};

constexpr StatusCode kOk = StatusCode::kOk;
constexpr StatusCode kFailed = StatusCode::kDeviceFailed;

TEST_F(Faults, AreCountedOverTheUnitsOfADevice) {
  Unit first = make_unit({.auto_reset = true}), second = make_unit({.auto_reset = true});
  faults().fail_every(3);
  std::vector<StatusCode> codes;
  for (int i = 0; i < 3; ++i)
    for (Unit* unit : {&first, &second}) codes.push_back(execute(*unit));
  EXPECT_THAT(codes, ElementsAre(kOk, kOk, kFailed, kOk, kOk, kFailed));
}

TEST_F(Faults, StrikeInTheOrderOfAcceptanceWhateverArrivesFirst) {
  faults().hold();
  faults().fail_nth(2, internal_error("the mill stopped"));
  Unit first = make_unit(), second = make_unit();
  Job one = submit_started(first, 1), two = submit(first), three = submit_started(second, 2);
  faults().release();
  EXPECT_TRUE(one.wait().ok());
  EXPECT_EQ(two.wait().code(), StatusCode::kInternal) << "it arrives last";
  EXPECT_TRUE(three.wait().ok());
}

TEST_F(Faults, OfACancelledJobStrikeNoOther) {
  faults().hold();
  faults().fail_nth(2);
  faults().fail_nth(4, internal_error("the mill stopped"));
  Unit unit = make_unit({.depth = 4});
  Job running = submit_started(unit), cancelled = submit(unit);
  Job third = submit(unit), fourth = submit(unit);
  EXPECT_EQ(cancelled.cancel(kForever).value(), CancelOutcome::kRemoved);
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  EXPECT_TRUE(third.wait().ok());
  EXPECT_EQ(fourth.wait().code(), StatusCode::kInternal);
}

TEST_F(Faults, CountEveryJobOfAGroup) {
  faults().fail_nth(3, internal_error("the mill stopped"));
  Unit unit = make_unit({.depth = 4});
  const std::vector<JobArgs> args(4, memory_.args());
  std::array<Job, 4> jobs;
  ASSERT_EQ(unit.try_submit_n(model_, args, jobs).value(), 4u);
  std::vector<StatusCode> codes;
  for (Job& job : jobs) codes.push_back(job.wait().code());
  EXPECT_THAT(codes, ElementsAre(kOk, kOk, StatusCode::kInternal, kOk));
}

TEST_F(Faults, LeaveOutJobsThatAreRefused) {
  faults().hold();
  faults().fail_nth(2, internal_error("the mill stopped"));
  Unit unit = make_unit({.depth = 1});
  Job running = submit_started(unit);
  EXPECT_EQ(unit.submit(model_, memory_.args()).status().code(), StatusCode::kQueueFull);
  faults().release();
  EXPECT_TRUE(running.wait().ok());
  EXPECT_EQ(execute(unit), StatusCode::kInternal);
}

class FaultsOfTheEnvironment : public ::testing::Test {
 protected:
  ~FaultsOfTheEnvironment() override {
    for (const char* name : {"MILLRACE_FAULTS", "MILLRACE_WATCHDOG"}) ::unsetenv(name);
  }

  // Runs jobs on one unit, and returns the numbers of those that met faults, as they were emitted.
  std::vector<uint64_t> faulty_jobs(uint32_t lanes, int jobs) {
    std::vector<uint64_t> met;
    const HookFunction note = [](void* observer, const HookEvent& event) noexcept {
      if (event.point == HookPoint::kInjected)
        static_cast<std::vector<uint64_t>*>(observer)->push_back(queue::counter_of(event.subject));
    };
    Device device = Device::open("null", {.lanes = lanes}).value();
    const Model model = load_tiny(device);
    const JobMemory memory(model);
    Unit unit = device.create_unit({.depth = 256}).value();
    EXPECT_TRUE(add_hook(note, &met));
    std::vector<Job> submitted;
    for (int i = 0; i < jobs; ++i) submitted.push_back(unit.submit(model, memory.args()).value());
    for (Job& job : submitted) static_cast<void>(job.wait());
    remove_hook(note, &met);
    return met;
  }

  Model load_tiny(Device& device) {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(write_tiny_model(path).ok());
    return device.load(path).value();
  }

 private:
  const TemporaryDirectory directory_;
};

TEST_F(FaultsOfTheEnvironment, AreInForceOnAnyDevice) {
  ::setenv("MILLRACE_FAULTS", "fail=2,status=INTERNAL", 1);
  Device device = Device::open("null", {.lanes = 2}).value();
  EXPECT_EQ(device.name(), "faulty-null");
  const Model model = load_tiny(device);
  const JobMemory memory(model);
  Unit unit = device.create_unit().value();
  EXPECT_TRUE(unit.execute(model, memory.args()).ok());
  EXPECT_EQ(unit.execute(model, memory.args()).code(), StatusCode::kInternal);
}

TEST_F(FaultsOfTheEnvironment, RefuseTheMemoryThatAPlanNames) {
  ::setenv("MILLRACE_FAULTS", "oom:allocs=2", 1);
  const std::optional<Device> device = Device::open("null").value();
  EXPECT_TRUE(Buffer::allocate(64).ok());
  EXPECT_EQ(Buffer::allocate(64).status().code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(Buffer::allocate(64).ok());
}

// The twin of each call, before the descriptor is lost, succeeds.
TEST_F(FaultsOfTheEnvironment, LoseFileDescriptors) {
  ::setenv("MILLRACE_FAULTS", "fdloss:after=2", 1);
  const std::optional<Device> device = Device::open("null").value();
  Buffer buffer = Buffer::allocate(4096).value();
  const UniqueFd shared(buffer.export_fd().value());
  EXPECT_TRUE(Buffer::import_fd(shared.get(), 4096).ok());
  EXPECT_EQ(buffer.export_fd().status().code(), StatusCode::kIoError);
  const Status lost = Buffer::import_fd(shared.get(), 4096).status();
  EXPECT_EQ(lost.code(), StatusCode::kInvalidArgument) << "as for a descriptor that is not open";
  EXPECT_THAT(lost.message(), HasSubstr("injected"));
}

// The memory itself is still mapped, so jobs on it fail without touching it.
TEST_F(FaultsOfTheEnvironment, LoseTheDescriptorOfImportedMemory) {
  ::setenv("MILLRACE_FAULTS", "fdloss:jobs=3", 1);
  Device device = Device::open("null").value();
  const Model model = load_tiny(device);
  const JobMemory memory(model);
  const TemporaryDirectory directory;
  const size_t bytes = model.inputs()[0].cpu.bytes;
  // A regular file can be truncated, so that its descriptor is asked before each access.
  const UniqueFd file(::open(directory.file("input").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  JobArgs args = memory.args();
  const TensorArg bound(Buffer::import_fd(file.get(), bytes).value());
  args.inputs = std::span(&bound, 1);
  Unit unit = device.create_unit().value();
  EXPECT_TRUE(unit.execute(model, args).ok());
  EXPECT_EQ(unit.execute(model, args).code(), StatusCode::kIoError);
  EXPECT_TRUE(unit.execute(model, args).ok());
}

TEST_F(FaultsOfTheEnvironment, LetCallsForOneUnitFindItsQueueFull) {
  ::setenv("MILLRACE_FAULTS", "full@video:100%", 1);
  Device device = Device::open("null").value();
  const Model model = load_tiny(device);
  const JobMemory memory(model);
  Unit video = device.create_unit({.name = "video"}).value(),
       audio = device.create_unit({.name = "audio"}).value();
  EXPECT_EQ(video.submit(model, memory.args()).status().code(), StatusCode::kQueueFull);
  EXPECT_TRUE(audio.submit(model, memory.args()).ok());
  EXPECT_EQ(video.submit(model, memory.args()).status().code(), StatusCode::kQueueFull);
}

TEST_F(FaultsOfTheEnvironment, LetCallsFindTheQueueFull) {
  ::setenv("MILLRACE_FAULTS", "full:jobs=2-3", 1);
  Device device = Device::open("null").value();
  const Model model = load_tiny(device);
  const JobMemory memory(model);
  Unit unit = device.create_unit().value(),
       waiting = device.create_unit({.when_full = WhenFull::kBlock}).value();
  EXPECT_TRUE(unit.submit(model, memory.args()).ok());
  EXPECT_TRUE(waiting.submit(model, memory.args()).ok()) << "does not count";
  EXPECT_EQ(unit.submit(model, memory.args()).status().code(), StatusCode::kQueueFull);
  EXPECT_EQ(waiting.try_submit(model, memory.args()).status().code(), StatusCode::kQueueFull);
  EXPECT_TRUE(unit.execute(model, memory.args()).ok());
  EXPECT_TRUE(unit.submit(model, memory.args()).ok());
}

// A plan foresees what happens, in the same order on one lane and on four.
TEST_F(FaultsOfTheEnvironment, AreTheSameInEveryRun) {
  ::setenv("MILLRACE_FAULTS", "fail:p=20%,status=INTERNAL;slow:p=20%,for=1us;seed=9", 1);
  device::FaultPlan foreseen;
  foreseen.apply(device::FaultPlan::parse(std::getenv("MILLRACE_FAULTS")).value());
  std::vector<uint64_t> expected;  // the number of a job, once for each of its faults
  for (uint64_t job = 1; job <= 200; ++job) {
    const device::FrameFaults faults = foreseen.foresee({.number = job});
    if (faults.delay.count() > 0) expected.push_back(job);
    if (!faults.failure.ok()) expected.push_back(job);
  }
  EXPECT_GT(expected.size(), 40u);
  for (const uint32_t lanes : {1u, 4u, 4u}) EXPECT_EQ(faulty_jobs(lanes, 200), expected) << lanes;
}

TEST_F(FaultsOfTheEnvironment, ThatMakeNoSenseAreRefused) {
  ::setenv("MILLRACE_FAULTS", "fail=often", 1);
  const Status status = Device::open("null").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("MILLRACE_FAULTS"));
}

TEST_F(FaultsOfTheEnvironment, AWatchdogThatMakesNoSenseIsRefused) {
  Device device = Device::open("null").value();
  ::setenv("MILLRACE_WATCHDOG", "10", 1);
  EXPECT_THAT(device.create_unit().status().message(), HasSubstr("MILLRACE_WATCHDOG: \"10\""));
}

class WatchdogOfTheEnvironment : public Faults {
 protected:
  WatchdogOfTheEnvironment() {
    ::setenv("MILLRACE_WATCHDOG", "400ms", 1);
    faults().hang_nth(1);
  }
  ~WatchdogOfTheEnvironment() override { ::unsetenv("MILLRACE_WATCHDOG"); }
};

TEST_F(WatchdogOfTheEnvironment, GivesUpJobsOfUnitsThatHaveNone) {
  Unit unit = make_unit({.auto_reset = true});
  const Status status = submit(unit).wait();
  EXPECT_EQ(status.code(), StatusCode::kHung);
  EXPECT_THAT(status.message(), HasSubstr("made no progress for 400 ms"));
  EXPECT_EQ(execute(unit), kOk);
}

TEST_F(WatchdogOfTheEnvironment, LimitsHowLongACloseWaits) {
  Unit unit = make_unit();
  Job job = submit(unit);
  faults().await_hangs(1);
  unit.close();
  EXPECT_THAT(job.wait(kPoll).message(), HasSubstr("made no progress for 400 ms"));
}

}  // namespace
}  // namespace millrace::test
