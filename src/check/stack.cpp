#include "check/stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>

#include "check/symbols.h"

namespace millrace::check {
namespace {

constexpr std::string_view kLibraries[] = {"libmillrace.so", "libnrt.so", "libvart"};

std::string readable(const std::string& symbol) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), &std::free);
  return failed == 0 && text != nullptr ? text.get() : symbol;
}

struct Call {
  std::string function;  // empty if unknown
  std::string file;      // name of the library or program
  uintptr_t offset = 0;  // within the file as it is loaded
};

// The address of a call is that of the instruction after it, which may belong to another function.
Call call_at(void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address) - 1;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(at), &info) == 0 || info.dli_fname == nullptr)
    return {.function = {}, .file = "?", .offset = at};
  Call call;
  const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  call.file = std::filesystem::path(info.dli_fname).filename();
  call.offset = at - base;
  call.function = info.dli_sname != nullptr ? info.dli_sname : symbol_in(info.dli_fname, base, at);
  if (!call.function.empty()) call.function = readable(call.function);
  return call;
}

bool is_of_millrace(const Call& call) {
  return std::ranges::any_of(
      kLibraries, [&](std::string_view library) { return call.file.starts_with(library); });
}

}  // namespace

Stack Stack::here() noexcept {
  Stack stack;
  stack.count_ = ::backtrace(stack.calls_.data(), kMost);
  return stack;
}

std::vector<std::string> Stack::lines() const {
  std::vector<Call> calls;
  for (void* const address : this->calls()) calls.push_back(call_at(address));
  auto first = std::ranges::find_if_not(calls, is_of_millrace);
  if (first != calls.begin()) --first;
  std::vector<std::string> lines;
  for (; first != calls.end(); ++first)
    lines.push_back(fmt::format("{} ({}+{:#x})", first->function.empty() ? "?" : first->function,
                                first->file, first->offset));
  return lines;
}

}  // namespace millrace::check
