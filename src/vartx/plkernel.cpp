// vart::PLKernel over pl::KernelCall and pl::KernelRun: a software kernel stands for the kernel in
// programmable logic.
#include "vart/vart_plkernel.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/value_or_throw.h"
#include "pl/kernel_library.h"
#include "pl/kernel_run.h"
#include "vartx/json_config.h"

namespace vart {

using millrace::value_or_throw;
using millrace::pl::KernelCall;
using millrace::pl::KernelRun;

class PLKernelImplBase {
 public:
  explicit PLKernelImplBase(const millrace_pl_kernel& kernel) : kernel(kernel) {}

  const millrace_pl_kernel& kernel;
  std::shared_ptr<KernelRun> run;  // the last one; null before the first
};

namespace {

constexpr const char* kWhat = "PLKernel";

// The results of PLKernel::wait, as the API documents them.
enum WaitResult : int { kSucceeded, kFailed, kNotEnded, kNotStarted };

const millrace_pl_kernel& find(PLKernelImplType type, const std::string& name,
                               const std::string& json) {
  if (type != PLKernelImplType::PL_KERNEL_XRT)
    throw std::invalid_argument("PLKernel: the type is not PL_KERNEL_XRT");
  const auto config = millrace::vartx::JsonConfig::parse(json);
  return *value_or_throw(millrace::pl::find_kernel(name, config.text("kernel-library", "")), kWhat);
}

ArgumentInfo describe(const millrace_pl_argument_info& argument, size_t index) {
  const bool scalar = argument.kind == MILLRACE_PL_SCALAR;
  ArgumentInfo info;
  info.arg_name = argument.name;
  info.arg_type = scalar ? "scalar" : "non scalar";
  info.arg_data_type = argument.type;
  info.arg_index = static_cast<uint32_t>(index);
  info.arg_size = scalar ? 0 : argument.size;
  info.mem_index = scalar ? -1 : static_cast<int32_t>(argument.memory_bank);
  return info;
}

}  // namespace

PLKernel::PLKernel(PLKernelImplType type, const std::string& name, std::string& json,
                   std::shared_ptr<Device>)  // NOLINT(performance-unnecessary-value-param): the API
    : impl_(std::make_shared<PLKernelImplBase>(find(type, name, json))) {}

PLKernel::PLKernel(std::shared_ptr<PLKernelImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("PLKernel: the handle is null");
}

void PLKernel::start(const std::vector<uint64_t>& arguments) {
  KernelCall call = value_or_throw(KernelCall::make(impl_->kernel, arguments), kWhat);
  if (impl_->run != nullptr) impl_->run->wait(std::chrono::milliseconds(0));  // without a limit
  impl_->run = value_or_throw(KernelRun::start(std::move(call)), kWhat);
}

int PLKernel::wait(unsigned timeout_ms) {
  if (impl_->run == nullptr) return kNotStarted;
  const std::optional<millrace::Status> ended =
      impl_->run->wait(std::chrono::milliseconds(timeout_ms));
  if (!ended) return kNotEnded;
  return ended->ok() ? kSucceeded : kFailed;
}

void PLKernel::write_config(const std::type_info&, const void*) {
  throw std::invalid_argument(
      fmt::format("PLKernel: kernel {} cannot be configured", impl_->kernel.name));
}

void PLKernel::read_config(const std::type_info& type, void* config) {
  if (type != typeid(std::vector<ArgumentInfo>))
    throw std::invalid_argument("PLKernel: get_config fills a std::vector<vart::ArgumentInfo>");
  std::vector<ArgumentInfo> infos;
  for (const auto& each : std::span(impl_->kernel.arguments, impl_->kernel.argument_count))
    infos.push_back(describe(each, infos.size()));
  *static_cast<std::vector<ArgumentInfo>*>(config) = std::move(infos);
}

const std::shared_ptr<PLKernelImplBase>& PLKernel::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
