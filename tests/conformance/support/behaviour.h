// Behaviours: what the native API promises, each written once and run on every device.
//
//   MILLRACE_BEHAVIOUR(cancel_queued) { ... }                   // on every device
//   MILLRACE_BEHAVIOUR(device_failure, Tag::kInjects) { ... }   // where faults can be injected
//
// Every behaviour has a file of its own, named after it; the file's folder is its suite. It runs as
// the GoogleTest case <suite>/<behaviour>.<device>; one that needs a tag which the device lacks is
// skipped, and the skip names the tag and the reason. At the end of a run of more than one case the
// program prints a table of behaviours and devices (table.cpp).
//
// The body is a member of a fixture that has opened the device and loaded the tiny model. Bodies
// whose jobs are held use EXPECT only: a job's handle waits for the job, so a body that is left
// before the jobs are let go never ends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "device/faulty/fault_plan.h"
#include "millrace/millrace.hpp"
#include "tests/conformance/support/job_memory.h"

namespace millrace::conformance {

// Capabilities that not every device has.
enum class Tag : uint8_t {
  kComputes,  // jobs write their outputs
  kInjects,   // faults can be injected
};

std::string_view to_string(Tag tag) noexcept;
// Why a device without the tag skips a behaviour.
std::string_view reason(Tag tag) noexcept;

// A device under test.
struct Subject {
  std::string name;
  std::vector<Tag> tags;
};
const std::vector<Subject>& subjects();

// Longer than anything that is waited for can take: what has not happened by then never will.
inline constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(30);
// The watchdogs' patience. A job that does not hang must not be given up for it where a loaded
// machine or a sanitizer makes it slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(MILLRACE_SANITIZED)
inline constexpr std::chrono::nanoseconds kWatchdog = std::chrono::milliseconds(600);
#else
inline constexpr std::chrono::nanoseconds kWatchdog = std::chrono::milliseconds(300);
#endif
// Watchdog of a unit whose jobs all hang, so that none can be given up by mistake.
inline constexpr std::chrono::nanoseconds kShortWatchdog = std::chrono::milliseconds(20);

// Whether `condition` comes true while there is patience.
bool eventually(const std::function<bool()>& condition);

class Behaviour : public ::testing::Test {
 public:
  static constexpr uint32_t kLanes = 2;
  static constexpr uint32_t kBatchSize = 4;

  void set_up_for(const Subject& subject, std::vector<Tag> needed);
  void SetUp() override;
  void TearDown() override;

 protected:
  bool has(Tag tag) const;
  const std::string& device_name() const { return subject_->name; }
  Device& device() { return *device_; }
  // The tiny model (tests/support/tiny_model.h) with a batch size of kBatchSize.
  const Model& model() const { return model_; }
  // The faults of the device. Requirement: Tag::kInjects.
  device::FaultPlan& faults() { return *faults_; }
  // Drops everything that the fixture holds of the device, the last handle of it included.
  void drop_device();

  // Makes a unit of depth 4, unless the options say otherwise.
  Unit make_unit(UnitOptions options = {.depth = 4});

  // The memory of the test's job number `index`; all of them differ. Thread-safe.
  JobMemory& memory(size_t index, uint32_t frames = 1);
  // Arguments that bind it.
  JobArgs args(size_t index = 0, uint32_t frames = 1) { return memory(index, frames).args(); }

  // Expects that these jobs have written what they should, where the device computes.
  void expect_computed(std::initializer_list<size_t> indices);

  // Submits a job that the unit must accept; an empty handle when it does not.
  Job submit(Unit& unit, JobArgs args);
  Job submit(Unit& unit, size_t index = 0) { return submit(unit, args(index)); }

 private:
  const Subject* subject_ = nullptr;
  std::vector<Tag> needed_;
  std::optional<Device> device_;
  Model model_;
  std::shared_ptr<device::FaultPlan> faults_;
  std::mutex memory_mutex_;
  std::map<size_t, std::unique_ptr<JobMemory>> memory_;
};

// The id of the job that the unit accepts next.
inline JobId next_id(const Unit& unit) {
  return unit.last_submitted() + 1;
}

// Expects that a status has the code, and shows all of it when it has not.
#define EXPECT_STATUS(status, expected)                                \
  do {                                                                 \
    const ::millrace::Status seen_status = (status);                   \
    EXPECT_EQ(::millrace::to_string(seen_status.code()),               \
              ::millrace::to_string(::millrace::StatusCode::expected)) \
        << seen_status.to_string();                                    \
  } while (false)

using MakeBehaviour = std::function<Behaviour*()>;
bool register_behaviour(const char* name, const char* file, int line, std::vector<Tag> needed,
                        const MakeBehaviour& make);

#define MILLRACE_BEHAVIOUR(name, ...)                                                          \
  class name final : public ::millrace::conformance::Behaviour {                               \
    void TestBody() override;                                                                  \
  };                                                                                           \
  [[maybe_unused]] const bool registered_##name = ::millrace::conformance::register_behaviour( \
      #name, __FILE__, __LINE__, {__VA_ARGS__}, [] { return new name; });                      \
  void name::TestBody()

}  // namespace millrace::conformance
