// xrt::kernel and xrt::run over pl::KernelCall and pl::KernelRun. A run collects its arguments and
// starts a thread at each start().
#include "xrt/xrt_kernel.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "base/value_or_throw.h"
#include "pl/kernel_library.h"
#include "pl/kernel_run.h"

namespace xrt {

using millrace::value_or_throw;
using millrace::pl::KernelCall;
using millrace::pl::KernelRun;

class kernel_impl {
 public:
  explicit kernel_impl(const millrace_pl_kernel& function) : function(function) {}

  const millrace_pl_kernel& function;
};

class run_impl {
 public:
  explicit run_impl(std::shared_ptr<kernel_impl> kernel)
      : kernel(std::move(kernel)), arguments(this->kernel->function.argument_count) {}

  const std::shared_ptr<kernel_impl> kernel;
  std::vector<std::optional<uint64_t>> arguments;
  std::shared_ptr<KernelRun> started;  // null before the first start
};

namespace {

std::shared_ptr<kernel_impl> find(const std::string& name) {
  return std::make_shared<kernel_impl>(
      *value_or_throw(millrace::pl::find_kernel(name), "xrt::kernel"));
}

ert_cmd_state state_of(const millrace::Status& ended) {
  return ended.ok() ? ERT_CMD_STATE_COMPLETED : ERT_CMD_STATE_ERROR;
}

template <class Impl>
Impl& check(const std::shared_ptr<Impl>& impl, const char* what) {
  if (impl == nullptr) throw std::invalid_argument(fmt::format("{}: the object is empty", what));
  return *impl;
}

size_t check_index(const millrace_pl_kernel& kernel, int index) {
  if (index >= 0 && static_cast<size_t>(index) < kernel.argument_count)
    return static_cast<size_t>(index);
  throw std::invalid_argument(
      fmt::format("xrt::kernel: {} has {} arguments, but none with index {}", kernel.name,
                  kernel.argument_count, index));
}

}  // namespace

kernel::kernel(const device& device, const uuid& xclbin_id, const std::string& name, cu_access_mode)
    : kernel(hw_context(device, xclbin_id), name) {}

kernel::kernel(const hw_context& context, const std::string& name) {
  if (!context) throw std::invalid_argument("xrt::kernel: the context is empty");
  impl_ = find(name);
}

int kernel::group_id(int index) const {
  const millrace_pl_kernel& function = check(impl_, "xrt::kernel").function;
  const auto& argument = function.arguments[check_index(function, index)];
  if (argument.kind == MILLRACE_PL_SCALAR)
    throw std::invalid_argument(
        fmt::format("xrt::kernel: argument {} of {} is not a buffer", index, function.name));
  return static_cast<int>(argument.memory_bank);
}

std::string kernel::get_name() const {
  return check(impl_, "xrt::kernel").function.name;
}

run::run(const kernel& kernel) {
  check(kernel.impl_, "xrt::run");
  impl_ = std::make_shared<run_impl>(kernel.impl_);
}

void run::set_bits(int index, uint64_t bits) {
  run_impl& impl = check(impl_, "xrt::run");
  impl.arguments[check_index(impl.kernel->function, index)] = bits;
}

void run::start() {
  run_impl& impl = check(impl_, "xrt::run");
  if (state() == ERT_CMD_STATE_RUNNING)
    throw std::invalid_argument("xrt::run: the run is still in progress");
  std::vector<uint64_t> values;
  for (const std::optional<uint64_t>& each : impl.arguments) {
    if (!each)
      throw std::invalid_argument(fmt::format("xrt::run: argument {} is not set", values.size()));
    values.push_back(*each);
  }
  KernelCall call = value_or_throw(KernelCall::make(impl.kernel->function, values), "xrt::run");
  impl.started = value_or_throw(KernelRun::start(std::move(call)), "xrt::run");
}

ert_cmd_state run::wait(const std::chrono::milliseconds& timeout) const {
  const run_impl& impl = check(impl_, "xrt::run");
  if (impl.started == nullptr) return ERT_CMD_STATE_NEW;
  const std::optional<millrace::Status> ended = impl.started->wait(timeout);
  return ended ? state_of(*ended) : ERT_CMD_STATE_TIMEOUT;
}

ert_cmd_state run::state() const {
  const run_impl& impl = check(impl_, "xrt::run");
  if (impl.started == nullptr) return ERT_CMD_STATE_NEW;
  const std::optional<millrace::Status> ended = impl.started->result();
  return ended ? state_of(*ended) : ERT_CMD_STATE_RUNNING;
}

}  // namespace xrt
