#include "pl/pass_through.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/settings/environment.h"

namespace millrace::pl {
namespace {

constexpr const char* kBeatVariable = "MILLRACE_PL_BEAT_BYTES";
constexpr uint64_t kBeatBytes = 64;
constexpr uint64_t kWordBytes = 4;
constexpr uint64_t kMostBeatBytes = 4096;
// The bank that the board's bitstreams connect the kernel to.
constexpr uint32_t kBank = 3;

enum Argument : uint8_t { kIn, kOut, kSize };

// Where the kernel writes why it failed.
struct Reason {
  char* text;
  size_t bytes;

  template <class... Args>
  int fail(fmt::format_string<Args...> format, Args&&... args) const {
    const auto end = fmt::format_to_n(text, bytes - 1, format, std::forward<Args>(args)...);
    *end.out = '\0';
    return 1;
  }
};

// Returns the bytes of a beat that a text states; nullopt if it is no number of bytes.
std::optional<uint64_t> parse_beat_bytes(std::string_view text) {
  uint64_t bytes = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, bytes);
  const bool valid = error == std::errc() && stop == end && bytes >= 1 && bytes <= kMostBeatBytes;
  return valid ? std::optional(bytes) : std::nullopt;
}

bool fits(const millrace_pl_argument* arguments, uint64_t bytes) {
  return arguments[kIn].bytes >= bytes && arguments[kOut].bytes >= bytes;
}

void warn_of_words_once() {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  log(LogLevel::kWarning, "pl",
      fmt::format("pass_through copies 32-bit words, since so many beats of {} bytes do not fit "
                  "into the buffers; {}={} or {} states which is meant",
                  kBeatBytes, kBeatVariable, kBeatBytes, kWordBytes));
}

int copy(const millrace_pl_argument* arguments, uint64_t count, uint64_t beat_bytes,
         const Reason& reason) {
  const uint64_t bytes = count * beat_bytes;
  for (const Argument each : {kIn, kOut})
    if (arguments[each].bytes < bytes)
      return reason.fail(
          "\"{}\" has {} bytes, but {} beats of {} bytes need {} ({} states the size "
          "of a beat)",
          each == kIn ? "in_r" : "out_r", arguments[each].bytes, count, beat_bytes, bytes,
          kBeatVariable);
  std::memmove(arguments[kOut].data, arguments[kIn].data, bytes);
  return 0;
}

int copy_beats(const millrace_pl_argument* arguments, char* text, size_t text_bytes) {
  const Reason reason{text, text_bytes};
  const uint64_t count = arguments[kSize].value & UINT32_MAX;
  if (const std::string_view stated = environment_variable(kBeatVariable); !stated.empty()) {
    const std::optional<uint64_t> beat_bytes = parse_beat_bytes(stated);
    if (beat_bytes) return copy(arguments, count, *beat_bytes, reason);
    return reason.fail("{} is \"{}\": it takes a number of bytes from 1 to {}", kBeatVariable,
                       stated, kMostBeatBytes);
  }
  const bool counts_words =
      !fits(arguments, count * kBeatBytes) && fits(arguments, count * kWordBytes);
  if (counts_words) warn_of_words_once();
  return copy(arguments, count, counts_words ? kWordBytes : kBeatBytes, reason);
}

constexpr millrace_pl_argument_info kArguments[] = {
    {"in_r", "void*", 8, MILLRACE_PL_INPUT_BUFFER, kBank},
    {"out_r", "void*", 8, MILLRACE_PL_OUTPUT_BUFFER, kBank},
    {"size", "unsigned int", 4, MILLRACE_PL_SCALAR, 0}};

}  // namespace

const millrace_pl_kernel kPassThrough = {"pass_through", kArguments, std::size(kArguments),
                                         copy_beats, nullptr};

}  // namespace millrace::pl
