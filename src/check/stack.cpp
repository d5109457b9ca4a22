#include "check/stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include "check/symbols.h"

namespace millrace::check {
namespace {

constexpr std::string_view kLibraries[] = {"libmillrace.so", "libnrt.so", "libvart"};
constexpr std::string_view kSystemLibraries[] = {"libc.so", "libpthread.so", "libstdc++.so"};

std::string readable(const std::string& symbol) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), &std::free);
  return failed == 0 && text != nullptr ? text.get() : symbol;
}

std::string_view name_of_file(const Call& call) {
  return std::string_view(call.path).substr(call.path.rfind('/') + 1);
}

// The loader knows the program itself by the name with which it was started, which need not be a
// path from the present folder.
std::string path_of(const Dl_info& info, const link_map& file) {
  if (file.l_name != nullptr && *file.l_name != '\0') return info.dli_fname;
  std::error_code error;
  std::string path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? info.dli_fname : path;
}

// The address of a call is that of the instruction after it, which may belong to another function.
Call call_at(void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address) - 1;
  Dl_info info{};
  link_map* file = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(at), &info, reinterpret_cast<void**>(&file),
                RTLD_DL_LINKMAP) == 0 ||
      info.dli_fname == nullptr || file == nullptr)
    return {.function = {}, .path = {}, .offset = at};
  Call call{.function = {}, .path = path_of(info, *file), .offset = at - file->l_addr};
  call.function = info.dli_sname != nullptr ? info.dli_sname : symbol_in(call.path, call.offset);
  if (!call.function.empty()) call.function = readable(call.function);
  return call;
}

bool is_of(std::span<const std::string_view> libraries, const Call& call) {
  return std::ranges::any_of(
      libraries, [&](std::string_view library) { return name_of_file(call).starts_with(library); });
}
bool is_of_millrace(const Call& call) {
  return is_of(kLibraries, call);
}
bool is_of_system(const Call& call) {
  return is_of(kSystemLibraries, call) || call.function == "_start";
}

// Returns the end of the calls that the program has made itself: what has called main(), or the
// function of a thread, belongs to the system.
std::vector<Call>::iterator end_of_program(std::vector<Call>& calls) {
  const auto main = std::ranges::find(calls, "main", &Call::function);
  if (main != calls.end()) return main + 1;
  auto end = calls.end();
  while (end != calls.begin() && is_of_system(*std::prev(end))) --end;
  return end;
}

}  // namespace

Stack Stack::here() noexcept {
  Stack stack;
  stack.count_ = ::backtrace(stack.calls_.data(), kMost);
  return stack;
}

std::vector<Call> Stack::named_calls() const {
  std::vector<Call> named;
  for (void* const address : calls()) named.push_back(call_at(address));
  named.erase(end_of_program(named), named.end());
  auto first = std::ranges::find_if_not(named, is_of_millrace);
  if (first != named.begin()) --first;
  named.erase(named.begin(), first);
  return named;
}

std::string text_of(const Call& call) {
  return fmt::format("{} ({}+{:#x})", call.function.empty() ? "?" : call.function,
                     call.path.empty() ? "?" : name_of_file(call), call.offset);
}

}  // namespace millrace::check
