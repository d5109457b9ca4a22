#include "pl/kernel_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "memory/address_entry.h"

namespace millrace::pl {
namespace {

uint64_t low_bytes(uint64_t value, size_t bytes) {
  return bytes >= sizeof value ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

Result<KernelCall> KernelCall::make(const millrace_pl_kernel& kernel,
                                    std::span<const uint64_t> values) {
  if (values.size() != kernel.argument_count)
    return invalid_argument(fmt::format("kernel {} takes {} arguments, but {} were passed",
                                        kernel.name, kernel.argument_count, values.size()));
  KernelCall call(kernel);
  for (size_t i = 0; i < values.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(call.add(kernel.arguments[i], values[i]));
  return call;
}

Status KernelCall::add(const millrace_pl_argument_info& info, uint64_t value) {
  if (info.kind == MILLRACE_PL_SCALAR) {
    arguments_.push_back({nullptr, 0, low_bytes(value, info.size)});
    return {};
  }
  memory::Buffer buffer = memory::AddressEntry::find(value);
  const auto wrong = [&](std::string_view what) {
    return invalid_argument(
        fmt::format("kernel {}: argument \"{}\": {}", kernel_->name, info.name, what));
  };
  if (!buffer) return wrong(fmt::format("the device address {:#x} is in no live memory", value));
  if (info.kind == MILLRACE_PL_OUTPUT_BUFFER && !buffer.writable())
    return wrong("the memory is read-only");
  const size_t offset = value - buffer.device_address();
  arguments_.push_back({buffer.data() + offset, buffer.size() - offset, value});
  const bool is_written = info.kind == MILLRACE_PL_OUTPUT_BUFFER;
  memory_.push_back(
      {std::move(buffer), is_written ? memory::Access::kReadWrite : memory::Access::kRead});
  return {};
}

std::chrono::nanoseconds KernelCall::run_time() const {
  if (kernel_->run_time_ns == nullptr) return {};
  // The largest time that a kernel may state would overflow as a point in time.
  constexpr std::chrono::nanoseconds kLongest = kLongestWait;
  const uint64_t stated = kernel_->run_time_ns(arguments_.data());
  return std::chrono::nanoseconds(std::min(stated, static_cast<uint64_t>(kLongest.count())));
}

// Calls the kernel while host access to the buffers from index `first` on is held. Recursive: each
// level holds the access to one buffer.
Status KernelCall::run_within(size_t first) const {
  if (first == memory_.size()) return call_kernel();
  return memory::with_access(memory_[first].buffer.host_access(), memory_[first].access,
                             [&] { return run_within(first + 1); });
}

Status KernelCall::call_kernel() const {
  std::array<char, 256> reason{};
  if (kernel_->run(arguments_.data(), reason.data(), reason.size()) == 0) return {};
  reason.back() = '\0';
  return {StatusCode::kDeviceFailed,
          fmt::format("kernel {} failed: {}", kernel_->name,
                      reason.front() == '\0' ? "no reason given" : reason.data())};
}

}  // namespace millrace::pl
