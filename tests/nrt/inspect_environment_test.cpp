// NEURON_RT_INSPECT_*: a system profile of a program that does not call nrt_inspect_* itself.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/nrt/trace_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

using testing::IsEmpty;

class InspectEnvironment : public TraceTest {
 protected:
  InspectEnvironment() { nrt_close(); }

  // A program from nrt_init to nrt_close, with these variables besides the one that names the
  // directory. It runs a model once on each of its first `cores` cores.
  NRT_STATUS run_program(ScopedEnvironment::Variables variables, int cores = 1) {
    variables.emplace_back("NEURON_RT_INSPECT_OUTPUT_DIR", output_);
    const ScopedEnvironment environment(std::move(variables));
    const NRT_STATUS status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
    for (int core = 0; status == NRT_SUCCESS && core < cores; ++core) execute_once(core);
    nrt_close();
    return status;
  }
  void execute_once(int core) {
    nrt_model_t* const model = load(core);
    const ScopedTensor in(kTinyInputBytes, core), out(kTinyOutputBytes, core);
    const ScopedSet inputs(kTinyInput, in.get()), outputs(kTinyOutput, out.get());
    EXPECT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
    nrt_unload(model);
  }
  // The files in the directory after the program.
  std::vector<std::string> profiles() const {
    std::vector<std::string> files;
    if (!std::filesystem::is_directory(output_)) return files;
    for (const auto& file : std::filesystem::directory_iterator(output_))
      files.push_back(file.path().string());
    return files;
  }

  const std::string output_ = directory_.file("output");
};

TEST_F(InspectEnvironment, RecordsFromInitToClose) {
  for (const char* yes : {"1", "true", "TRUE"}) {
    ASSERT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", yes}}), NRT_SUCCESS);
    ASSERT_EQ(profiles().size(), 1u) << yes;
    const std::string file = profiles()[0];
    EXPECT_THAT(file, testing::HasSubstr("/system_profile_" + std::to_string(getpid()) + "_"));
    EXPECT_EQ(of_type(parse_file(file), "nrt_load").size(), 2u);
    std::filesystem::remove(file);
  }
}

TEST_F(InspectEnvironment, HasAFileForEachLifeOfTheRuntime) {
  for (int life = 0; life < 2; ++life)
    ASSERT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"}}), NRT_SUCCESS);
  EXPECT_EQ(profiles().size(), 2u);
}

TEST_F(InspectEnvironment, IsOffUnlessAskedFor) {
  ASSERT_EQ(run_program({}), NRT_SUCCESS);
  ASSERT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "False"}}), NRT_SUCCESS);
  ASSERT_EQ(
      run_program({{"NEURON_RT_INSPECT_ENABLE", "1"}, {"NEURON_RT_INSPECT_SYSTEM_PROFILE", "0"}}),
      NRT_SUCCESS);
  EXPECT_THAT(profiles(), IsEmpty());
}

TEST_F(InspectEnvironment, WarnsWhereItCannotWrite) {
  std::ofstream(output_) << "a file where the directory should be";
  const LogCapture log(LogLevel::kWarning);
  EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"}}), NRT_SUCCESS);
  ASSERT_EQ(log.count("NEURON_RT_INSPECT_ENABLE"), 1u);
  EXPECT_EQ(log.count(output_), 1u);
  EXPECT_EQ(log.lines()[0].substr(0, 7), "WARNING");
}

TEST_F(InspectEnvironment, WarnsOfProfilesThatThereAreNot) {
  for (const char* name : {"NEURON_RT_INSPECT_DEVICE_PROFILE", "NEURON_RT_INSPECT_ON_FAIL"}) {
    const LogCapture log(LogLevel::kWarning);
    EXPECT_EQ(run_program({{name, "1"}}), NRT_SUCCESS);
    EXPECT_EQ(log.count(name), 1u);
  }
}

TEST_F(InspectEnvironment, RecordsTheSelectedTypes) {
  const auto types_with = [&](const char* filter) {
    EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"},
                           {"NEURON_RT_INSPECT_EVENT_FILTER_TYPE", filter}}),
              NRT_SUCCESS);
    std::set<std::string> types;
    for (const std::string& file : profiles()) {
      const Json trace = parse_file(file);
      for (const Json& event : trace.at("events")) types.insert(event.at("event_type"));
      std::filesystem::remove(file);
    }
    return types;
  };
  using testing::ElementsAre;
  EXPECT_THAT(types_with("nrt_unload"), ElementsAre("nrt_unload"));
  EXPECT_THAT(types_with("nrt_load,nc_exec_running"), ElementsAre("nc_exec_running", "nrt_load"));
  EXPECT_THAT(types_with("hardware"), ElementsAre("nc_exec_running"));
  EXPECT_THAT(types_with("hardware,^nc_exec_running"), IsEmpty());
  EXPECT_THAT(types_with("hardware,nrt_load,^nrt_unload"),
              ElementsAre("nc_exec_running", "nrt_load"));
  EXPECT_THAT(types_with("software"),
              testing::AllOf(testing::Contains("nrt_load"),
                             testing::Not(testing::Contains("nc_exec_running"))));
  EXPECT_THAT(types_with("^nrt_load"), testing::AllOf(testing::Contains("nc_exec_running"),
                                                      testing::Not(testing::Contains("nrt_load"))));
}

TEST_F(InspectEnvironment, WarnsOfTypesThatThereAreNot) {
  const LogCapture log(LogLevel::kWarning);
  EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"},
                         {"NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "nrt_load,one,^two"}}),
            NRT_SUCCESS);
  EXPECT_EQ(log.count("NEURON_RT_INSPECT_EVENT_FILTER_TYPE: there are no event types one, two"),
            1u);
}

// Cores have the numbers of the machine, as in NEURON_RT_VISIBLE_CORES.
TEST_F(InspectEnvironment, RecordsTheSelectedCores) {
  const auto runs_with = [&](const char* filter) {
    EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"},
                           {"NEURON_RT_VISIBLE_CORES", "1"},
                           {"NEURON_RT_INSPECT_EVENT_FILTER_NC", filter}}),
              NRT_SUCCESS);
    size_t runs = 0;
    for (const std::string& file : profiles()) {
      runs += of_type(parse_file(file), "nc_exec_running").size();
      std::filesystem::remove(file);
    }
    return runs;
  };
  EXPECT_EQ(runs_with(""), 2u);
  EXPECT_EQ(runs_with("1"), 2u);
}

// The filter has the numbers of the machine; in a profile, as in all calls, cores are counted from
// the first visible one.
TEST_F(InspectEnvironment, LeavesOutVisibleCoresThatAreNotSelected) {
  const auto cores_with = [&](const char* filter) {
    EXPECT_EQ(run_program({{"MILLRACE_NRT_CORES", "4"},
                           {"NEURON_RT_INSPECT_ENABLE", "1"},
                           {"NEURON_RT_VISIBLE_CORES", "1-3"},
                           {"NEURON_RT_INSPECT_EVENT_FILTER_NC", filter}},
                          3),
              NRT_SUCCESS);
    std::set<int> cores;
    for (const std::string& file : profiles()) {
      for (const Json& event : of_type(parse_file(file), "nc_exec_running"))
        cores.insert(event.at("nc_idx").get<int>());
      std::filesystem::remove(file);
    }
    return cores;
  };
  using testing::ElementsAre;
  EXPECT_THAT(cores_with(""), ElementsAre(0, 1, 2));
  EXPECT_THAT(cores_with("2"), ElementsAre(1));
  EXPECT_THAT(cores_with("1,3"), ElementsAre(0, 2));
  EXPECT_THAT(cores_with("2-3"), ElementsAre(1, 2));
}

TEST_F(InspectEnvironment, RefusesCoresThatAreNotVisible) {
  for (const char* wrong : {"0", "1-2", "1,0", "one", "1,", "-1"}) {
    const LogCapture log;
    EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"},
                           {"NEURON_RT_VISIBLE_CORES", "1"},
                           {"NEURON_RT_INSPECT_EVENT_FILTER_NC", wrong}}),
              NRT_INVALID)
        << wrong;
    EXPECT_EQ(log.count("NEURON_RT_INSPECT_EVENT_FILTER_NC is \""), 1u) << wrong;
  }
  EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_EVENT_FILTER_NC", "7"}}), NRT_SUCCESS)
      << "without a profile, it is not read";
}

// An event has a start and a stop; the newest are kept.
TEST_F(InspectEnvironment, KeepsAsManyEventsOfACoreAsAreWanted) {
  ASSERT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"},
                         {"NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC", "2"},
                         {"NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "nrt_load,nc_exec_running"}}),
            NRT_SUCCESS);
  ASSERT_EQ(profiles().size(), 1u);
  EXPECT_EQ(of_type(parse_file(profiles()[0]), "nc_exec_running").size(), 2u);
  EXPECT_EQ(of_type(parse_file(profiles()[0]), "nrt_load").size(), 0u) << "displaced by the run";
  EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"},
                         {"NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC", "0"}}),
            NRT_INVALID);
}

TEST_F(InspectEnvironment, RefusesWhatIsNeitherYesNorNo) {
  EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "perhaps"}}), NRT_INVALID);
}

}  // namespace
}  // namespace millrace::test
