// MILLRACE_TRACE: the file that a whole program leaves. Each program is a forked child, since a
// process has one trace. Nothing in this test program may start a thread of Millrace before.
#include "timeline/trace_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "device/registry.h"
#include "memory/buffer.h"
#include "tests/runtime/session_fixture.h"
#include "tests/support/run_in_child.h"
#include "tests/support/temporary_directory.h"
#include "timeline/page.h"

namespace millrace::timeline {
namespace {

using nlohmann::json;
using runtime::JobMemory;
using runtime::Session;

// A session of the tiny model on a device, opened as a program opens it.
struct Program {
  explicit Program(const char* device_name = "null")
      : device(device::open_device_of_program(device_name, {.lanes = 2}).value()) {}

  std::shared_ptr<device::Device> device;
  std::shared_ptr<const device::Program> program =
      device->load(std::make_shared<graph::CompiledModel>(test::tiny_model())).value();
  std::unique_ptr<Session> session = Session::create(device, program).value();
  JobMemory memory{program->model()};

  // A call that a plan of faults refuses is passed over.
  void submit_and_wait(int jobs) {
    for (int i = 0; i < jobs; ++i)
      if (const auto id = session->submit(memory.bindings()); id.ok())
        static_cast<void>(session->wait(*id, runtime::kForever));
  }
};

class TraceFile : public testing::Test {
 protected:
  // Runs a program with the variables and returns its exit code.
  int run(const std::function<int()>& program) {
    return test::run_in_child([&] {
      for (const auto& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
      return program();
    });
  }
  int run_jobs(int jobs) {
    return run([jobs] {
      Program().submit_and_wait(jobs);
      return 0;
    });
  }

  json trace() const { return json::parse(std::ifstream(path_)); }
  std::vector<json> events(const std::string& phase, const std::string& category) const {
    const json all = trace();
    std::vector<json> found;
    for (const json& event : all["traceEvents"])
      if (event["ph"] == phase && event.value("cat", "") == category) found.push_back(event);
    return found;
  }
  std::vector<json> jobs() const { return events("X", "job"); }

  test::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("trace.json");
  std::map<std::string, std::string> variables_ = {{"MILLRACE_TRACE", path_}};
};

TEST_F(TraceFile, HasASliceForEveryJobInOrder) {
  ASSERT_EQ(run_jobs(50), 0);
  std::map<int, std::vector<uint64_t>> numbers;  // of each unit, in the order of the file
  for (const json& job : jobs()) {
    EXPECT_EQ(job["args"]["status"], "OK");
    EXPECT_LT(job["args"]["lane"], 2);
    EXPECT_GE(job["args"]["waited_us"], 0);
    EXPECT_GE(job["dur"], 0);
    numbers[job["args"]["unit"]].push_back(job["args"]["number"]);
  }
  size_t all = 0;
  for (const auto& [unit, of_unit] : numbers) {
    for (size_t i = 0; i < of_unit.size(); ++i) EXPECT_EQ(of_unit[i], i + 1);
    all += of_unit.size();
  }
  EXPECT_EQ(all, 50u);
  EXPECT_EQ(events("X", "submit").size(), 50u);
  EXPECT_EQ(events("s", "submit").size(), 50u);
  EXPECT_EQ(events("f", "submit").size(), 50u);
  const auto waits = events("X", "wait");
  EXPECT_EQ(waits.size(), 50u);
  for (const json& wait : waits) EXPECT_EQ(wait["args"]["status"], "OK");
  EXPECT_EQ(trace()["otherData"]["dropped_events"], 0);
  EXPECT_THAT(trace().dump(), testing::HasSubstr("tiny/0")) << "the name of a unit";
}

TEST_F(TraceFile, HasTheJobsOfTwoThreads) {
  ASSERT_EQ(run([] {
              Program program;
              const auto work = [&] {
                JobMemory memory(program.program->model());
                for (int i = 0; i < 100; ++i)
                  static_cast<void>(program.session->execute(memory.bindings()));
              };
              std::thread other(work);
              work();
              other.join();
              return 0;
            }),
            0);
  EXPECT_EQ(jobs().size(), 200u);
  std::map<int64_t, int> submits;
  for (const json& submit : events("X", "submit")) ++submits[submit["tid"]];
  ASSERT_EQ(submits.size(), 2u);
  for (const auto& [thread, count] : submits) EXPECT_EQ(count, 100);
}

TEST_F(TraceFile, HasCallbacks) {
  ASSERT_EQ(run([] {
              Program program;
              for (int i = 0; i < 5; ++i) {
                const auto id = program.session->submit(program.memory.bindings(),
                                                        [](uint64_t, const Status&) {});
                static_cast<void>(program.session->wait(id.value(), runtime::kForever));
              }
              return 0;
            }),
            0);
  EXPECT_EQ(events("X", "callback").size(), 5u);
}

TEST_F(TraceFile, DividesJobsIntoTheirOperators) {
  ASSERT_EQ(run([] {
              Program("cpu").submit_and_wait(2);
              return 0;
            }),
            0);
  const auto runs = jobs();
  ASSERT_EQ(runs.size(), 2u);
  for (const json& job : runs) {
    std::vector<std::string> names;
    double until = job["ts"];
    const double end = until + job["dur"].get<double>();
    for (const json& phase : events("X", "phase")) {
      if (phase["args"]["job"] != job["args"]["job"]) continue;
      names.push_back(phase["name"]);
      EXPECT_GE(phase["ts"].get<double>(), until - 1e-3) << "they follow each other";
      until = phase["ts"].get<double>() + phase["dur"].get<double>();
    }
    EXPECT_LE(until, end + 1e-3);
    ASSERT_GE(names.size(), 3u);
    EXPECT_EQ(names.front(), "inputs");
    EXPECT_EQ(names.back(), "outputs");
    EXPECT_THAT(names, testing::Contains(testing::HasSubstr("(Conv")));
  }
}

TEST_F(TraceFile, IsAPageIfItsNameSaysSo) {
  variables_["MILLRACE_TRACE"] = directory_.file("trace.html");
  ASSERT_EQ(run_jobs(4), 0);
  std::ifstream file(directory_.file("trace.html"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  const json trace = json::parse(trace_in(page));
  size_t jobs = 0;
  for (const json& event : trace["traceEvents"]) jobs += event.value("cat", "") == "job";
  EXPECT_EQ(jobs, 4u);
}

TEST_F(TraceFile, ShowsInjectedFaultsAndTheStatusesOfTheirJobs) {
  variables_["MILLRACE_FAULTS"] = "fail=3";
  ASSERT_EQ(run_jobs(5), 0);
  std::vector<std::string> statuses;
  for (const json& job : jobs()) statuses.push_back(job["args"]["status"]);
  EXPECT_THAT(statuses, testing::UnorderedElementsAre("OK", "OK", "DEVICE_FAILED", "OK", "OK"));
  EXPECT_EQ(events("i", "fault").size(), 1u);
}

// Holds are of tests only, and those of collectives are in tests/ranks.
TEST_F(TraceFile, ShowsEveryKindOfInjectedFault) {
  variables_["MILLRACE_FAULTS"] =
      "fail:jobs=1,status=INTERNAL; slow:jobs=2,for=1us; hang:jobs=3,for=1us; nan:jobs=4; "
      "full:jobs=5; oom:allocs=1; fdloss:jobs=1";
  ASSERT_EQ(run([] {
              Program program;
              program.submit_and_wait(6);
              if (memory::Buffer::allocate(64).ok()) return 1;
              return memory::Buffer::allocate(64).value().export_fd().ok() ? 2 : 0;
            }),
            0);
  std::map<std::string, int> kinds;
  for (const json& fault : events("i", "fault")) ++kinds[fault["args"]["kind"]];
  const std::map<std::string, int> expected = {{"fail", 1}, {"slow", 1}, {"hang", 1},  {"nan", 1},
                                               {"full", 1}, {"oom", 1},  {"fdloss", 1}};
  EXPECT_EQ(kinds, expected);
}

TEST_F(TraceFile, HasTheLastEventsWhereThereIsNoRoomForAll) {
  variables_["MILLRACE_TRACE_EVENTS"] = "100";  // rounded up to 128
  ASSERT_EQ(run([] {
              // A thread of its own gets a ring of this size.
              std::thread([] { Program().submit_and_wait(1000); }).join();
              return 0;
            }),
            0);
  EXPECT_GT(trace()["otherData"]["dropped_events"], 0);
  const auto kept = jobs();
  ASSERT_FALSE(kept.empty());
  EXPECT_LT(kept.size(), 200u);
  EXPECT_EQ(events("X", "submit").back()["args"]["job"], kept.back()["args"]["job"]);
}

TEST_F(TraceFile, IsWrittenByProgramsThatFailWithOpenDevices) {
  ASSERT_EQ(run([] {
              auto* const program = new Program;
              program->submit_and_wait(3);
              return 7;
            }),
            7);
  EXPECT_EQ(jobs().size(), 3u);
}

TEST_F(TraceFile, IsWrittenByProgramsThatASignalEnds) {
  for (const int signal : {SIGTERM, SIGINT, SIGABRT}) {
    std::filesystem::remove(path_);
    EXPECT_EQ(run([signal] {
                Program program;
                program.submit_and_wait(3);
                ::raise(signal);
                return 0;
              }),
              128 + signal);
    EXPECT_EQ(jobs().size(), 3u) << signal;
  }
}

// A program that is killed while its trace is complete so far, because it has asked for it.
class TraceFileOnDemand : public TraceFile {
 protected:
  // Waits for the file, and ends the process without any handler.
  static int end_once_written(const std::string& path) {
    while (!std::filesystem::exists(path))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::raise(SIGKILL);
    return 0;
  }
};

TEST_F(TraceFileOnDemand, IsWrittenForASignal) {
  EXPECT_EQ(run([&] {
              Program program;
              program.submit_and_wait(3);
              ::raise(SIGUSR2);
              return end_once_written(path_);
            }),
            128 + SIGKILL);
  EXPECT_EQ(jobs().size(), 3u);
}

TEST_F(TraceFileOnDemand, IsWrittenWhenADeviceFails) {
  variables_["MILLRACE_FAULTS"] = "fail=2";
  EXPECT_EQ(run([&] {
              Program program;
              program.submit_and_wait(2);
              return end_once_written(path_);
            }),
            128 + SIGKILL);
  EXPECT_FALSE(jobs().empty());
}

TEST_F(TraceFileOnDemand, LeavesTheProgramsOwnHandlersAlone) {
  static volatile sig_atomic_t seen = 0;
  EXPECT_EQ(run([] {
              ::signal(SIGUSR2, [](int) { seen = 1; });
              Program program;
              ::raise(SIGUSR2);
              return seen == 1 ? 0 : 1;
            }),
            0);
}

// The file of the last events, which only an incident leaves.
class FlightRecorder : public TraceFileOnDemand {
 protected:
  FlightRecorder() { variables_ = {{"MILLRACE_FLIGHT_RECORDER", path_}}; }
};

TEST_F(FlightRecorder, LeavesNothingOfAProgramThatSucceeds) {
  ASSERT_EQ(run_jobs(50), 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(FlightRecorder, LeavesTheFileWhenADeviceFails) {
  variables_["MILLRACE_FAULTS"] = "fail=3";
  ASSERT_EQ(run_jobs(5), 0);
  std::vector<std::string> statuses;
  for (const json& job : jobs()) statuses.push_back(job["args"]["status"]);
  EXPECT_THAT(statuses, testing::Contains("DEVICE_FAILED"));
  EXPECT_EQ(events("i", "fault").size(), 1u);
}

// The failed job is in the file even if its start was left out.
TEST_F(FlightRecorder, HasTheFailureAmongJobsThatComeFast) {
  variables_["MILLRACE_FAULTS"] = "fail=20001";
  ASSERT_EQ(run([] {
              Program program;
              for (int i = 0; i < 20'001; ++i)
                static_cast<void>(program.session->execute(program.memory.bindings()));
              return 0;
            }),
            0);
  std::vector<json> failed;
  for (const json& job : jobs())
    if (job["args"]["status"] == "DEVICE_FAILED") failed.push_back(job);
  for (const json& job : events("i", "not_run")) failed.push_back(job);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["args"]["status"], "DEVICE_FAILED");
  for (const json& job : jobs()) EXPECT_NE(job["args"]["status"], "PENDING");
}

TEST_F(FlightRecorder, LeavesTheFileWhenTheWatchdogGivesAJobUp) {
  variables_["MILLRACE_FAULTS"] = "hang=2,hang_for=1s";
  variables_["MILLRACE_WATCHDOG"] = "50ms";
  EXPECT_EQ(run([&] {
              Program program;
              program.submit_and_wait(2);
              return end_once_written(path_);
            }),
            128 + SIGKILL);
  std::vector<std::string> statuses;
  for (const json& job : jobs()) statuses.push_back(job["args"]["status"]);
  EXPECT_THAT(statuses, testing::Contains("HUNG"));
}

TEST_F(FlightRecorder, LeavesTheFileForASignal) {
  EXPECT_EQ(run([&] {
              Program program;
              program.submit_and_wait(3);
              ::raise(SIGUSR2);
              return end_once_written(path_);
            }),
            128 + SIGKILL);
  EXPECT_EQ(jobs().size(), 3u);
}

TEST_F(FlightRecorder, KeepsTheFileOfAnEarlierIncident) {
  const std::string second = directory_.file("trace.2.json");
  EXPECT_EQ(run([&] {
              Program program;
              program.submit_and_wait(3);
              ::raise(SIGUSR2);
              while (!std::filesystem::exists(path_))
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
              program.submit_and_wait(2);
              ::raise(SIGUSR2);
              return end_once_written(second);
            }),
            128 + SIGKILL);
  EXPECT_EQ(jobs().size(), 3u);
  const json later = json::parse(std::ifstream(second));
  size_t jobs = 0;
  for (const json& event : later["traceEvents"]) jobs += event.value("cat", "") == "job";
  EXPECT_EQ(jobs, 5u);
}

TEST_F(FlightRecorder, LeavesABoundedNumberOfFilesAndReplacesTheOldest) {
  std::ofstream(path_) << "first";
  for (int number = 2; number <= 8; ++number)
    std::ofstream(directory_.file(fmt::format("trace.{}.json", number))) << "earlier";
  const std::string oldest = directory_.file("trace.5.json");
  std::filesystem::last_write_time(oldest,
                                   std::filesystem::last_write_time(path_) - std::chrono::hours(1));
  variables_["MILLRACE_FAULTS"] = "fail=1";
  ASSERT_EQ(run_jobs(1), 0);
  std::string first, last;
  std::ifstream(path_) >> first;
  EXPECT_EQ(first, "first");
  std::ifstream(directory_.file("trace.8.json")) >> last;
  EXPECT_EQ(last, "earlier");
  EXPECT_TRUE(json::accept(std::ifstream(oldest)));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("trace.9.json")));
}

TEST_F(FlightRecorder, LeavesOneFileOfAProgramThatIsStoppedAfterAFailure) {
  variables_["MILLRACE_FAULTS"] = "fail=2";
  for (const auto& [signal, files] : {std::pair(SIGTERM, 1), std::pair(SIGABRT, 2)}) {
    EXPECT_EQ(run([&, ending = signal] {
                Program program;
                program.submit_and_wait(2);
                while (!std::filesystem::exists(path_))
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
                ::raise(ending);
                return 0;
              }),
              128 + signal);
    const std::filesystem::directory_iterator all(directory_.path());
    EXPECT_EQ(std::distance(begin(all), end(all)), files) << signal;
    std::filesystem::remove(path_);
  }
}

TEST_F(FlightRecorder, YieldsToATraceOfEverything) {
  variables_["MILLRACE_TRACE"] = directory_.file("all.json");
  ASSERT_EQ(run_jobs(3), 0);
  EXPECT_TRUE(std::filesystem::exists(directory_.file("all.json")));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TraceFile, HasTheJobsOfAllDevicesInTurn) {
  ASSERT_EQ(run([] {
              Program().submit_and_wait(3);
              Program().submit_and_wait(4);
              return 0;
            }),
            0);
  EXPECT_EQ(jobs().size(), 7u);
}

TEST_F(TraceFile, IsNotWrittenUnlessAskedFor) {
  variables_.clear();
  ASSERT_EQ(run_jobs(3), 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(TraceFile, NameMayHoldTheProcess) {
  variables_["MILLRACE_TRACE"] = directory_.file("trace-%p.json");
  ASSERT_EQ(run_jobs(1), 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
    names.push_back(entry.path().filename());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_THAT(names[0], testing::MatchesRegex("trace-[0-9]+\\.json"));
}

TEST_F(TraceFile, IsOfTheFolderInWhichTheProgramBegan) {
  variables_["MILLRACE_TRACE"] = "trace.json";
  ASSERT_EQ(run([&] {
              if (::chdir(directory_.path().c_str()) != 0) return 1;
              Program program;
              if (::chdir("/") != 0) return 1;
              program.submit_and_wait(2);
              return 0;
            }),
            0);
  EXPECT_EQ(jobs().size(), 2u);
}

// Runs jobs with settings that are wrong: the program succeeds, and the log says why there is no
// trace.
class NoTraceFile : public TraceFile {
 protected:
  std::string log_of_program() {
    const std::string log = directory_.file("log");
    EXPECT_EQ(run([&] {
                std::ofstream lines(log);
                set_log_sink([&](LogLevel level, std::string_view, std::string_view line) {
                  lines << to_string(level) << ' ' << line << std::endl;
                });
                Program().submit_and_wait(3);
                set_log_sink({});
                return 0;
              }),
              0);
    std::ifstream file(log);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(NoTraceFile, IsLoggedForAPathThatCannotBeWritten) {
  variables_["MILLRACE_TRACE"] = "/nonexistent/trace.json";
  EXPECT_THAT(log_of_program(), testing::AllOf(testing::HasSubstr("ERROR MILLRACE_TRACE: "),
                                               testing::HasSubstr("/nonexistent")));
}

TEST_F(NoTraceFile, IsLoggedForARoomThatMakesNoSense) {
  variables_["MILLRACE_TRACE_EVENTS"] = "many";
  EXPECT_THAT(log_of_program(), testing::HasSubstr("MILLRACE_TRACE_EVENTS is \"many\""));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace millrace::timeline
