#include "pl/pass_through.h"

#include <fmt/format.h>

#include <cstring>

namespace millrace::pl {
namespace {

constexpr uint64_t kWordBytes = 4;

enum Argument : uint8_t { kIn, kOut, kWords };

int copy_words(const millrace_pl_argument* arguments, char* reason, size_t reason_bytes) {
  const uint64_t bytes = (arguments[kWords].value & UINT32_MAX) * kWordBytes;
  for (const Argument each : {kIn, kOut}) {
    if (arguments[each].bytes >= bytes) continue;
    const auto end = fmt::format_to_n(reason, reason_bytes - 1, "\"{}\" has {} bytes, but needs {}",
                                      each == kIn ? "in" : "out", arguments[each].bytes, bytes);
    *end.out = '\0';
    return 1;
  }
  std::memmove(arguments[kOut].data, arguments[kIn].data, bytes);
  return 0;
}

constexpr millrace_pl_argument_info kArguments[] = {
    {"in", "unsigned int*", 8, MILLRACE_PL_INPUT_BUFFER, 0},
    {"out", "unsigned int*", 8, MILLRACE_PL_OUTPUT_BUFFER, 0},
    {"words", "unsigned int", 4, MILLRACE_PL_SCALAR, 0}};

}  // namespace

const millrace_pl_kernel kPassThrough = {"pass_through", kArguments, std::size(kArguments),
                                         copy_words};

}  // namespace millrace::pl
