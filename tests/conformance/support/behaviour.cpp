#include "tests/conformance/support/behaviour.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::conformance {
namespace {

// The archive of the tiny model, written on first use.
const std::string& model_path() {
  static const test::TemporaryDirectory directory;
  static const std::string path = [] {
    std::string file = directory.file("tiny.rai");
    const Status written = test::write_tiny_model(file, {.batch_size = Behaviour::kBatchSize});
    EXPECT_TRUE(written.ok()) << written.to_string();
    return file;
  }();
  return path;
}

bool contains(const std::vector<Tag>& tags, Tag tag) {
  return std::ranges::find(tags, tag) != tags.end();
}

}  // namespace

std::string_view to_string(Tag tag) noexcept {
  return tag == Tag::kComputes ? "computes" : "injects";
}

std::string_view reason(Tag tag) noexcept {
  return tag == Tag::kComputes ? "the device leaves outputs as they are"
                               : "the device injects no faults";
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      {"null", {}},
      {"cpu", {Tag::kComputes}},
      {"faulty-null", {Tag::kInjects}},
      {"faulty-cpu", {Tag::kComputes, Tag::kInjects}},
  };
  return all;
}

bool eventually(const std::function<bool()>& condition) {
  const Deadline limit = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= limit) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void Behaviour::set_up_for(const Subject& subject, std::vector<Tag> needed) {
  subject_ = &subject;
  needed_ = std::move(needed);
}

void Behaviour::SetUp() {
  for (const Tag tag : needed_)
    if (!has(tag)) GTEST_SKIP() << to_string(tag) << ": " << reason(tag);
  Result<Device> opened = Device::open(device_name(), {.lanes = kLanes});
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  device_ = *std::move(opened);
  Result<Model> loaded = device_->load(model_path());
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  model_ = *std::move(loaded);
  faults_ = device::faults_of(*device::open_device(device_name()).value());
}

void Behaviour::TearDown() {
  if (faults_ != nullptr) {
    faults_->heal();
    faults_->release();
    faults_->end_hangs();
  }
  // Jobs that were given up must release memory before the next case, which needs a quiet process.
  EXPECT_TRUE(eventually([this] {
    return std::ranges::none_of(memory_, [](const auto& each) { return each.second->is_held(); });
  })) << "jobs still refer to their memory";
}

bool Behaviour::has(Tag tag) const {
  return contains(subject_->tags, tag);
}

void Behaviour::drop_device() {
  model_ = {};
  device_.reset();
}

Unit Behaviour::make_unit(UnitOptions options) {
  return device().create_unit(std::move(options)).value();
}

JobMemory& Behaviour::memory(size_t index, uint32_t frames) {
  const std::lock_guard lock(memory_mutex_);
  std::unique_ptr<JobMemory>& kept = memory_[index];
  if (kept == nullptr) kept = std::make_unique<JobMemory>(frames, static_cast<int>(index));
  return *kept;
}

void Behaviour::expect_computed(std::initializer_list<size_t> indices) {
  if (!has(Tag::kComputes)) return;
  for (const size_t index : indices)
    EXPECT_TRUE(memory(index).is_computed()) << "job number " << index;
}

Job Behaviour::submit(Unit& unit, JobArgs args) {
  Result<Job> job = unit.submit(model(), std::move(args));
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return job.ok() ? *std::move(job) : Job();
}

bool register_behaviour(const char* name, const char* file, int line, std::vector<Tag> needed,
                        const MakeBehaviour& make) {
  const std::string suite = std::filesystem::path(file).parent_path().filename().string();
  for (const Subject& subject : subjects()) {
    ::testing::RegisterTest((suite + "/" + name).c_str(), subject.name.c_str(), nullptr, nullptr,
                            file, line, [&subject, needed, make]() -> Behaviour* {
                              Behaviour* made = make();
                              made->set_up_for(subject, needed);
                              return made;
                            });
  }
  return true;
}

}  // namespace millrace::conformance
