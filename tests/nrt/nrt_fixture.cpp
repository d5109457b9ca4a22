#include "tests/nrt/nrt_fixture.h"

#include <cstdlib>
#include <thread>

#include "device/registry.h"
#include "graph/archive/codec.h"
#include "tests/support/gated_device.h"

namespace millrace::test {
namespace {

ScopedEnvironment::Variables with_device(ScopedEnvironment::Variables variables,
                                         const char* device) {
  variables.emplace_back("MILLRACE_DEVICE", device);
  variables.emplace_back("MILLRACE_NRT_CORES", "2");
  variables.emplace_back("NEURON_RT_LOG_LEVEL", "QUIET");
  return variables;
}

}  // namespace

ScopedEnvironment::ScopedEnvironment(Variables variables) : variables_(std::move(variables)) {
  for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
}
ScopedEnvironment::ScopedEnvironment(const char* name, const char* value)
    : ScopedEnvironment(Variables{{name, value}}) {}
ScopedEnvironment::~ScopedEnvironment() {
  for (const auto& [name, value] : variables_) unsetenv(name.c_str());
}

std::vector<std::byte> tiny_archive(const TinyModelOptions& options) {
  const graph::CompiledModel model = tiny_model(options);
  return model::archive_bytes(graph::encode(model));
}

ScopedTensor::ScopedTensor(size_t bytes, int core) {
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core, bytes, "t", &tensor_),
            NRT_SUCCESS);
}

ScopedSet::ScopedSet(const char* name, nrt_tensor_t* tensor) {
  EXPECT_EQ(nrt_allocate_tensor_set(&set_), NRT_SUCCESS);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set_, name, tensor), NRT_SUCCESS);
}

NrtTest::NrtTest(const char* device, ScopedEnvironment::Variables more)
    : environment_(with_device(std::move(more), device)),
      device_(device::open_device(device, {.lanes = kLanes}).value()) {
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
}

NrtTest::~NrtTest() {
  let_everything_go();
  nrt_close();
}

void NrtTest::let_everything_go() {
  for (const auto& plan : {device::faults_of(*device_), device::transfer_faults_of(*device_)})
    if (plan != nullptr) test::let_everything_go(*plan);
}

nrt_model_t* NrtTest::load(int core, const TinyModelOptions& options) {
  const std::vector<std::byte> bytes = tiny_archive(options);
  nrt_model_t* model = nullptr;
  EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), core, 1, &model), NRT_SUCCESS);
  return model;
}

bool NrtTest::is_completed(nrta_seq_t sequence) {
  bool completed = false;
  EXPECT_EQ(nrta_is_completed(sequence, &completed), NRT_SUCCESS);
  return completed;
}

void NrtTest::await(nrta_seq_t sequence) {
  for (bool completed = false; !completed;) {
    ASSERT_EQ(nrta_is_completed(sequence, &completed), NRT_SUCCESS);
    std::this_thread::yield();
  }
}

NrtModelTest::NrtModelTest(const char* device, ScopedEnvironment::Variables more)
    : NrtTest(device, std::move(more)) {}

NrtModelTest::~NrtModelTest() {
  // Before the memory is freed that requests may still use.
  let_everything_go();
  nrt_close();
}

NRT_STATUS NrtModelTest::execute() {
  return nrt_execute(model_, inputs_.get(), outputs_.get());
}

NRT_STATUS NrtModelTest::schedule(NRT_STATUS* ret, nrta_seq_t* sequence) {
  return nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 0, ret, sequence);
}

NRT_STATUS NrtModelTest::schedule_write(NRT_STATUS* ret, nrta_seq_t* sequence, int queue) {
  nrt_tensor_t* const target = queue == 0 ? input_.get() : spare_.get();
  return nrta_tensor_write(target, host_.data(), 0, kTinyInputBytes, 0, queue, ret, sequence);
}

nrta_seq_t NrtModelTest::last_completed(nrta_xu_t unit, int queue) {
  nrta_seq_t sequence = 0;
  EXPECT_EQ(nrta_get_sequence(0, unit, queue, &sequence), NRT_SUCCESS);
  return sequence;
}

void NrtModelTest::write_input(const std::vector<float>& numbers) {
  ASSERT_EQ(nrt_tensor_write(input_.get(), numbers.data(), 0, kTinyInputBytes), NRT_SUCCESS);
}

std::vector<float> NrtModelTest::read_output() {
  std::vector<float> numbers(kTinyOutputBytes / sizeof(float));
  EXPECT_EQ(nrt_tensor_read(output_.get(), numbers.data(), 0, kTinyOutputBytes), NRT_SUCCESS);
  return numbers;
}

std::vector<float> NrtModelTest::some_input(int seed) {
  return tiny_numbers(kTinyInputBytes / sizeof(float), seed);
}

}  // namespace millrace::test
