// Device::Impl knows the units that were made through it by weak pointers, and closes those that
// still exist when the Device is destroyed.
#include "millrace/device.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "api/model_impl.h"
#include "api/unit_core.h"
#include "base/contained.h"
#include "base/process/forked_child.h"
#include "base/status.h"
#include "device/registry.h"
#include "runtime/jobs/job_task.h"
#include "runtime/loading/loader.h"
#include "runtime/loading/strict_zero_copy.h"
#include "runtime/units/create_unit.h"

namespace millrace {

using api::UnitCore;

class Device::Impl {
 public:
  explicit Impl(std::shared_ptr<device::Device> device)
      : device_(std::move(device)), name_(device_->name()), description_(device_->description()) {}

  const std::shared_ptr<device::Device>& device() const noexcept { return device_; }
  const std::string& name() const noexcept { return name_; }
  const std::string& description() const noexcept { return description_; }

  void add(const std::shared_ptr<UnitCore>& unit) {
    const std::lock_guard lock(mutex_);
    std::erase_if(units_, [](const std::weak_ptr<UnitCore>& known) { return known.expired(); });
    units_.push_back(unit);
  }

  void close_units() {
    if (is_forked_child()) return;
    for (const std::weak_ptr<UnitCore>& known : units_)
      if (const std::shared_ptr<UnitCore> unit = known.lock()) unit->unit().close();
  }

 private:
  const std::shared_ptr<device::Device> device_;
  const std::string name_, description_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<UnitCore>> units_;
};

namespace {

// The number of tensors of a typical job. Tasks of jobs with more allocate once.
constexpr size_t kTensorsOfAJob = 2;

queue::UnitOptions queue_options(UnitOptions options, runtime::JobMode mode) {
  queue::UnitOptions result;
  static_cast<UnitOptions&>(result) = std::move(options);
  result.make_task = [mode] {
    return std::make_unique<runtime::JobTask>(kTensorsOfAJob, nullptr, runtime::JobSync(), nullptr,
                                              mode);
  };
  return result;
}

}  // namespace

Result<Device> Device::open(std::string_view name, DeviceOptions options) {
  return contained([&]() -> Result<Device> {
    MILLRACE_ASSIGN_OR_RETURN(
        std::shared_ptr<device::Device> device,
        device::open_device_of_program(std::string(name), {.lanes = options.lanes}));
    return Device(std::make_unique<Impl>(std::move(device)));
  });
}

Device::Device(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Device::Device(Device&&) noexcept = default;

Device& Device::operator=(Device&& other) noexcept {
  if (this == &other) return *this;
  if (impl_ != nullptr) impl_->close_units();
  impl_ = std::move(other.impl_);
  return *this;
}

Device::~Device() {
  if (impl_ != nullptr) impl_->close_units();
}

Result<Model> Device::load(const std::string& path, LoadOptions options) const {
  if (is_forked_child()) return forked_status();
  return contained([&]() -> Result<Model> {
    MILLRACE_ASSIGN_OR_RETURN(const bool strict_zero_copy, runtime::strict_zero_copy_requested());
    MILLRACE_ASSIGN_OR_RETURN(
        std::shared_ptr<const device::Program> program,
        runtime::load_program(path, *impl_->device(), options.memory_limit, options.shape_profile));
    std::string note = program->info().note;
    MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Executor> executor,
                              runtime::Executor::of(impl_->device(), std::move(program)));
    return Model(std::make_shared<const Model::Impl>(std::move(executor), std::move(note),
                                                     strict_zero_copy));
  });
}

Result<Unit> Device::create_unit(UnitOptions options) {
  if (is_forked_child()) return forked_status();
  return contained([&]() -> Result<Unit> {
    MILLRACE_ASSIGN_OR_RETURN(const runtime::JobMode mode, runtime::job_mode_in_force());
    MILLRACE_ASSIGN_OR_RETURN(
        std::unique_ptr<queue::Unit> unit,
        runtime::create_unit(*impl_->device(), device::Work::kJob, queue_options(options, mode)));
    const auto core =
        std::make_shared<UnitCore>(impl_->device(), std::move(options), std::move(unit));
    impl_->add(core);
    return Unit(core);
  });
}

const std::string& Device::name() const noexcept {
  return impl_->name();
}
const std::string& Device::description() const noexcept {
  return impl_->description();
}
uint32_t Device::lanes() const noexcept {
  return impl_->device()->lanes().count();
}

}  // namespace millrace
