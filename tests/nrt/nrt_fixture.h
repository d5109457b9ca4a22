// The NRT face on a device that tests can hold, and make fail and hang: executions pass one fault
// plan, transfers another.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "graph/archive_codec.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {

// Sets environment variables for as long as it lives.
class ScopedEnvironment {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  explicit ScopedEnvironment(Variables variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ScopedEnvironment(const char* name, const char* value)
      : ScopedEnvironment(Variables{{name, value}}) {}
  ~ScopedEnvironment() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  const Variables variables_;
};

inline std::vector<std::byte> tiny_archive(const TinyModelOptions& options = {}) {
  const graph::CompiledModel model = tiny_model(options);
  return model::archive_bytes(graph::encode(model));
}

// No status that a request ends with.
inline constexpr NRT_STATUS kUntouched = NRT_COLL_PENDING;

inline constexpr size_t kTinyInputBytes = kTinyInputChannels * kTinySide * kTinySide * 4;
inline constexpr size_t kTinyOutputBytes = kTinyOutputChannels * kTinySide * kTinySide * 4;

// A tensor that is freed at the end.
class ScopedTensor {
 public:
  explicit ScopedTensor(size_t bytes, int core = 0) {
    EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core, bytes, "t", &tensor_),
              NRT_SUCCESS);
  }
  ~ScopedTensor() { nrt_tensor_free(&tensor_); }
  ScopedTensor(const ScopedTensor&) = delete;
  ScopedTensor& operator=(const ScopedTensor&) = delete;
  nrt_tensor_t* get() const { return tensor_; }
  nrt_tensor_t** address() { return &tensor_; }

 private:
  nrt_tensor_t* tensor_ = nullptr;
};

// A set of one tensor.
class ScopedSet {
 public:
  ScopedSet(const char* name, nrt_tensor_t* tensor) {
    EXPECT_EQ(nrt_allocate_tensor_set(&set_), NRT_SUCCESS);
    EXPECT_EQ(nrt_add_tensor_to_tensor_set(set_, name, tensor), NRT_SUCCESS);
  }
  ~ScopedSet() { nrt_destroy_tensor_set(&set_); }
  ScopedSet(const ScopedSet&) = delete;
  ScopedSet& operator=(const ScopedSet&) = delete;
  nrt_tensor_set_t* get() const { return set_; }
  nrt_tensor_set_t** address() { return &set_; }

 private:
  nrt_tensor_set_t* set_ = nullptr;
};

// The lanes of the device are the only threads of the library while nothing runs.
inline constexpr int kLanes = 2;

// Runs between nrt_init and nrt_close, on two cores, with the device that `device` names.
class NrtTest : public testing::Test {
 protected:
  explicit NrtTest(const char* device = "faulty-cpu", ScopedEnvironment::Variables more = {})
      : environment_([&] {
          more.emplace_back("MILLRACE_DEVICE", device);
          more.emplace_back("MILLRACE_NRT_CORES", "2");
          more.emplace_back("NEURON_RT_LOG_LEVEL", "QUIET");
          return std::move(more);
        }()),
        device_(device::open_device(device, {.lanes = kLanes}).value()) {
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }
  ~NrtTest() override {
    let_everything_go();
    nrt_close();
  }

  // Of executions, and of transfers. Requirement: a faulty device.
  device::FaultPlan& executions() { return *device::faults_of(*device_); }
  device::FaultPlan& transfers() { return *device::transfer_faults_of(*device_); }
  void let_everything_go() {
    for (const auto& plan : {device::faults_of(*device_), device::transfer_faults_of(*device_)}) {
      if (plan == nullptr) continue;
      plan->heal();
      plan->release();
      plan->end_hangs();
    }
  }

  nrt_model_t* load(int core = 0, const TinyModelOptions& options = {}) {
    const std::vector<std::byte> bytes = tiny_archive(options);
    nrt_model_t* model = nullptr;
    EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), core, 1, &model), NRT_SUCCESS);
    return model;
  }

  static bool is_completed(nrta_seq_t sequence) {
    bool completed = false;
    EXPECT_EQ(nrta_is_completed(sequence, &completed), NRT_SUCCESS);
    return completed;
  }
  // Polls until the request has completed.
  static void await(nrta_seq_t sequence) {
    for (bool completed = false; !completed;) {
      ASSERT_EQ(nrta_is_completed(sequence, &completed), NRT_SUCCESS);
      std::this_thread::yield();
    }
  }

 private:
  const ScopedEnvironment environment_;
  const std::shared_ptr<device::Device> device_;
};

// With a model, its tensors and their sets.
class NrtModelTest : public NrtTest {
 protected:
  using NrtTest::NrtTest;
  // Before the memory is freed that requests may still use.
  ~NrtModelTest() override {
    let_everything_go();
    nrt_close();
  }

  NRT_STATUS execute() { return nrt_execute(model_, inputs_.get(), outputs_.get()); }
  NRT_STATUS schedule(NRT_STATUS* ret, nrta_seq_t* sequence) {
    return nrta_execute_schedule(model_, inputs_.get(), outputs_.get(), 0, ret, sequence);
  }
  // Writes `host_` to the input tensor, on core 0. Through another queue than the first to a tensor
  // of its own: what two queues do at the same time must not touch the same memory.
  NRT_STATUS schedule_write(NRT_STATUS* ret, nrta_seq_t* sequence, int queue = 0) {
    nrt_tensor_t* const target = queue == 0 ? input_.get() : spare_.get();
    return nrta_tensor_write(target, host_.data(), 0, kTinyInputBytes, 0, queue, ret, sequence);
  }
  // The last completed request of a unit of core 0.
  static nrta_seq_t last_completed(nrta_xu_t unit, int queue = 0) {
    nrta_seq_t sequence = 0;
    EXPECT_EQ(nrta_get_sequence(0, unit, queue, &sequence), NRT_SUCCESS);
    return sequence;
  }
  void write_input(const std::vector<float>& numbers) {
    ASSERT_EQ(nrt_tensor_write(input_.get(), numbers.data(), 0, kTinyInputBytes), NRT_SUCCESS);
  }
  std::vector<float> read_output() {
    std::vector<float> numbers(kTinyOutputBytes / sizeof(float));
    EXPECT_EQ(nrt_tensor_read(output_.get(), numbers.data(), 0, kTinyOutputBytes), NRT_SUCCESS);
    return numbers;
  }
  static std::vector<float> some_input(int seed) {
    return tiny_numbers(kTinyInputBytes / sizeof(float), seed);
  }

  std::vector<float> host_ = some_input(1);
  nrt_model_t* model_ = load();
  ScopedTensor input_{kTinyInputBytes}, output_{kTinyOutputBytes}, spare_{kTinyInputBytes};
  ScopedSet inputs_{kTinyInput, input_.get()}, outputs_{kTinyOutput, output_.get()};
};

}  // namespace millrace::test
