// The NRT face on a device that tests can hold, and make fail and hang: executions pass one fault
// plan, transfers another.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/faulty/faulty_device.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {

// Sets environment variables for as long as it lives.
class ScopedEnvironment {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  explicit ScopedEnvironment(Variables variables);
  ScopedEnvironment(const char* name, const char* value);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  const Variables variables_;
};

std::vector<std::byte> tiny_archive(const TinyModelOptions& options = {});

// No status that a request ends with.
inline constexpr NRT_STATUS kUntouched = NRT_COLL_PENDING;

inline constexpr size_t kTinyInputBytes = kTinyInputChannels * kTinySide * kTinySide * 4;
inline constexpr size_t kTinyOutputBytes = kTinyOutputChannels * kTinySide * kTinySide * 4;

// A tensor that is freed at the end.
class ScopedTensor {
 public:
  explicit ScopedTensor(size_t bytes, int core = 0);
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
  ScopedSet(const char* name, nrt_tensor_t* tensor);
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
  explicit NrtTest(const char* device = "faulty-cpu", ScopedEnvironment::Variables more = {});
  ~NrtTest() override;

  // Fault plans of executions, and of transfers. Requirement: a faulty device.
  device::FaultPlan& executions() { return *device::faults_of(*device_); }
  device::FaultPlan& transfers() { return *device::transfer_faults_of(*device_); }
  void let_everything_go();

  static nrt_model_t* load(int core = 0, const TinyModelOptions& options = {});

  static bool is_completed(nrta_seq_t sequence);
  // Polls until the request has completed.
  static void await(nrta_seq_t sequence);

 private:
  const ScopedEnvironment environment_;
  const std::shared_ptr<device::Device> device_;
};

// Adds a model, its tensors and their sets.
class NrtModelTest : public NrtTest {
 protected:
  explicit NrtModelTest(const char* device = "faulty-cpu", ScopedEnvironment::Variables more = {});
  ~NrtModelTest() override;

  NRT_STATUS execute();
  NRT_STATUS schedule(NRT_STATUS* ret, nrta_seq_t* sequence);
  // Writes `host_` to the input tensor, on core 0. Through another queue than the first to a tensor
  // of its own: what two queues do at the same time must not touch the same memory.
  NRT_STATUS schedule_write(NRT_STATUS* ret, nrta_seq_t* sequence, int queue = 0);
  // The last completed request of a unit of core 0.
  static nrta_seq_t last_completed(nrta_xu_t unit, int queue = 0);
  void write_input(const std::vector<float>& numbers);
  std::vector<float> read_output();
  static std::vector<float> some_input(int seed);

  std::vector<float> host_ = some_input(1);
  nrt_model_t* model_ = load();
  ScopedTensor input_{kTinyInputBytes}, output_{kTinyOutputBytes}, spare_{kTinyInputBytes};
  ScopedSet inputs_{kTinyInput, input_.get()}, outputs_{kTinyOutput, output_.get()};
};

}  // namespace millrace::test
