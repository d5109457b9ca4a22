// The calls by which programs watch devices and the processes that use them (ndl/ndl.h,
// nrt/nds/neuron_ds.h, nrt/nec.h).
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "ndl/ndl.h"
#include "nrt/nds/neuron_ds.h"
#include "nrt/nec.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/subprocess.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> devices() {
  std::vector<int> indexes(NEURON_MAX_DEVICES, -1);
  indexes.resize(static_cast<size_t>(ndl_available_devices(indexes.data(), NEURON_MAX_DEVICES)));
  return indexes;
}

class OpenDevice {
 public:
  explicit OpenDevice(int index = 0) { EXPECT_EQ(ndl_open_device(index, nullptr, &device_), 0); }
  ~OpenDevice() { EXPECT_EQ(ndl_close_device(device_), 0); }
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  ndl_device_t* get() const { return device_; }

 private:
  ndl_device_t* device_ = nullptr;
};

// Without nrt_init.
class Monitor : public testing::Test {
 protected:
  const ScopedEnvironment quiet_{"NEURON_RT_LOG_LEVEL", "QUIET"};
};

TEST_F(Monitor, DevicesHaveEquallyManyCoresEach) {
  const struct {
    const char* cores;
    size_t devices;
  } kCases[] = {{"1", 1}, {"2", 1}, {"8", 1}, {"12", 2}, {"16", 2}, {"11", 11}, {"128", 16}};
  for (const auto& [cores, expected] : kCases) {
    const ScopedEnvironment all("MILLRACE_NRT_CORES", cores);
    EXPECT_EQ(devices().size(), expected) << cores;
  }
  const ScopedEnvironment all("MILLRACE_NRT_CORES", "16");
  EXPECT_THAT(devices(), ElementsAre(0, 1));
  int one = -1;
  EXPECT_EQ(ndl_available_devices(&one, 1), 1);
  EXPECT_EQ(nec_get_device_count(&one, 1), 1);
  EXPECT_EQ(ndl_available_devices(nullptr, 4), 0);
}

TEST_F(Monitor, ADeviceHasTheMemoryOfItsCores) {
  const ScopedEnvironment environment(
      {{"MILLRACE_NRT_CORES", "16"}, {"MILLRACE_NRT_MEMORY", "1M"}});
  const OpenDevice device(1);
  EXPECT_EQ(device.get()->device_index, 1);
  EXPECT_EQ(device.get()->hbm_size, 8u << 20);
  uint32_t id = 0;
  EXPECT_EQ(ndl_get_host_device_id(device.get(), &id), 0);
  EXPECT_EQ(id, 1u);
  ndl_device_t* none = nullptr;
  EXPECT_EQ(ndl_open_device(2, nullptr, &none), -1);
  EXPECT_EQ(ndl_open_device(-1, nullptr, &none), -1);
  EXPECT_EQ(ndl_open_device(0, nullptr, nullptr), -1);
  EXPECT_EQ(ndl_close_device(nullptr), -1);
}

// By default the visible cores share all memory.
TEST_F(Monitor, ADeviceHasNoMoreMemoryThanTheMachine) {
  const ScopedEnvironment environment(
      {{"MILLRACE_NRT_CORES", "8"}, {"NEURON_RT_VISIBLE_CORES", "2"}});
  const OpenDevice device;
  const auto machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(device.get()->hbm_size, machine);
}

TEST_F(Monitor, SaysWhatItIs) {
  ndl_version_info_t version{};
  EXPECT_EQ(ndl_get_version(&version), 0);
  EXPECT_THAT(version.driver_full_version, testing::StartsWith("Millrace "));
  uint32_t size = 0, architecture = 9, revision = 9;
  EXPECT_EQ(nec_get_virtual_core_size(&size), NRT_SUCCESS);
  EXPECT_EQ(size, 1u);
  EXPECT_EQ(ndl_get_board_info(&architecture, &revision), 0);
  EXPECT_EQ(architecture + revision, 0u);
  nec_version_info_t plugin{};
  EXPECT_EQ(nec_get_version_info(&plugin), NRT_SUCCESS);
  EXPECT_EQ(plugin.major, 2u);
  uint32_t bus = 0;
  uint8_t slot = 0, function = 0;
  EXPECT_EQ(ndl_get_device_bdf(0, &bus, &slot, &function), -1);
}

TEST_F(Monitor, AProcessWithoutARuntimeHasNoCounters) {
  const OpenDevice device;
  nds_instance_t* instance = nullptr;
  EXPECT_NE(nds_open(device.get(), 0, &instance), 0);
  EXPECT_NE(nds_open(device.get(), 1, &instance), 0) << "another user's, or without a runtime";
  EXPECT_EQ(instance, nullptr);
}

// Two cores, a device, a model and its tensors.
class MonitorOfARuntime : public NrtModelTest {
 protected:
  static uint64_t counter(const nds_instance_t* instance, int core, uint32_t which) {
    uint64_t value = 0;
    EXPECT_EQ(nds_get_nc_counter(const_cast<nds_instance_t*>(instance), core, which, &value), 0);
    return value;
  }
};

TEST_F(MonitorOfARuntime, CountsExecutionsAndMemory) {
  const OpenDevice device;
  nds_instance_t* instance = nullptr;
  ASSERT_EQ(nds_open(device.get(), 0, &instance), 0);
  const uint64_t completed = counter(instance, 0, NDS_NC_COUNTER_INFER_COMPLETED);
  const uint64_t out_of_bounds = counter(instance, 0, NDS_NC_COUNTER_OOB);
  EXPECT_EQ(execute(), NRT_SUCCESS);
  executions().fail_nth(1, invalid_argument("index 9 is outside a dimension of 3"));
  EXPECT_EQ(execute(), NRT_EXEC_OOB);
  EXPECT_EQ(counter(instance, 0, NDS_NC_COUNTER_INFER_COMPLETED), completed + 1);
  EXPECT_EQ(counter(instance, 0, NDS_NC_COUNTER_OOB), out_of_bounds + 1);
  EXPECT_EQ(counter(instance, 1, NDS_NC_COUNTER_INFERENCE_COUNT), 0u);

  const uint64_t tensors = counter(instance, 0, NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE);
  {
    const ScopedTensor one(1000);
    EXPECT_EQ(counter(instance, 0, NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE), tensors + 1000);
  }
  EXPECT_EQ(counter(instance, 0, NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE), tensors);
  EXPECT_GT(counter(instance, 0, NDS_NC_COUNTER_MEM_USAGE_CONSTANTS_DEVICE), 0u);

  uint64_t value = 0;
  EXPECT_NE(nds_get_nc_counter(instance, 8, 0, &value), 0);
  EXPECT_NE(nds_get_nc_counter(instance, 0, NDS_TOTAL_NC_COUNTER_COUNT, &value), 0);
  EXPECT_NE(nds_increment_nc_counter(instance, 0, 0, 1), 0);
  EXPECT_EQ(nds_get_nd_counter(instance, NDS_ND_COUNTER_FEATURE_BITMAP, &value), 0);
  nds_obj_handle_t* models = nullptr;
  size_t count = 9;
  EXPECT_EQ(nds_read_all_model_nodes(instance, &models, &count), 0);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(nds_close(instance), 0);
}

// Another start may show the process other cores, as its core 0, too.
TEST_F(MonitorOfARuntime, CountersBelongToTheCoresOfTheMachine) {
  const auto execute_on_core_0 = [] {
    nrt_model_t* const model = load();
    const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
    const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
    EXPECT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
    EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
  };
  const OpenDevice device;
  nds_instance_t* instance = nullptr;
  ASSERT_EQ(nds_open(device.get(), 0, &instance), 0);
  const auto executions_of = [&](int core) {
    return counter(instance, core, NDS_NC_COUNTER_INFERENCE_COUNT);
  };
  execute_on_core_0();
  const uint64_t of_first = executions_of(0), of_second = executions_of(1);
  nrt_close();
  {
    const ScopedEnvironment second_only("NEURON_RT_VISIBLE_CORES", "1");
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    EXPECT_EQ(executions_of(1), of_second);
    execute_on_core_0();
    EXPECT_EQ(executions_of(1), of_second + 1);
    EXPECT_EQ(executions_of(0), 0u) << "the process does not see this core";
    nrt_close();
  }
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  EXPECT_EQ(executions_of(0), of_first);
  EXPECT_EQ(executions_of(1), of_second + 1);
  EXPECT_EQ(nds_close(instance), 0);
}

// Core 12 of 16 is in the second device, of which the monitor's own environment knows nothing.
TEST_F(MonitorOfARuntime, IsSeenFromAnotherEnvironment) {
  nrt_close();
  {
    const ScopedEnvironment of_program(
        {{"MILLRACE_NRT_CORES", "16"}, {"NEURON_RT_VISIBLE_CORES", "12"}});
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    const ProgramResult result =
        run_program({"/usr/bin/env", "-u", "MILLRACE_NRT_CORES", "-u", "NEURON_RT_VISIBLE_CORES",
                     MILLRACE_NRT_MONITOR, std::to_string(::getpid())},
                    "/");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("device 1 cores 0x10 memory"));
    nrt_close();
  }
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
}

// Programs that watch are processes of their own.
TEST_F(MonitorOfARuntime, AnotherProcessSeesIt) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(execute(), NRT_SUCCESS);
  const auto watch = [] {
    const ProgramResult result =
        run_program({MILLRACE_NRT_MONITOR, std::to_string(::getpid())}, "/");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string seen = watch();
  EXPECT_THAT(seen, ContainsRegex("device 0 cores 0x3 memory [1-9][0-9]+\n"));
  EXPECT_THAT(seen, ContainsRegex("core 0 completed [1-9]"));
  EXPECT_THAT(seen, ContainsRegex("core 0 time [1-9]"));
  EXPECT_THAT(seen, ContainsRegex("core 0 loaded [1-9]"));
  nrt_close();
  EXPECT_EQ(watch(), "") << "the process uses no cores any more";
}

}  // namespace
}  // namespace millrace::test
