// The outcome of one case, and its encoding for the transfer from the process that ran it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/conformance/compare_elements.h"

namespace millrace::cli {

enum class Verdict : uint8_t { kPass, kFail, kUnsupported, kExcluded };

// "pass", "fail", "unsupported", "excluded".
const char* to_string(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::kFail;
  std::string reason;       // for every verdict but kPass; may have several lines
  LargestError error = {};  // error of the compared values
  double seconds = 0;
};

// The error as text: "2 ULP, 1.2e-07 absolute", or "0 absolute" without elements of a floating
// type.
std::string describe(const LargestError& error);

// The verdict, the reason and the error as bytes. What decode_outcome() reads may be anything:
// kCorruptData where it is no outcome.
std::vector<std::byte> encode_outcome(const Outcome& outcome);
Result<Outcome> decode_outcome(std::span<const std::byte> bytes);

}  // namespace millrace::cli
