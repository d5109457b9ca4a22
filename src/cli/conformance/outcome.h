// The outcome of one test case, and its encoding as CBOR for the transfer from the process that ran
// it. Thread-safe.
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

// Returns "pass", "fail", "unsupported" or "excluded".
const char* to_string(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::kFail;
  std::string reason;       // for every verdict but kPass; may have several lines
  LargestError error = {};  // the largest of all compared elements
  double seconds = 0;
};

// Returns the error as text such as "2 ULP, 1.2e-07 absolute", or "0 absolute" if no elements of a
// floating type were compared.
std::string describe(const LargestError& error);

// Encodes the verdict, the reason and the error, but not the seconds. decode_outcome() accepts any
// bytes: kCorruptData if they are not an outcome.
std::vector<std::byte> encode_outcome(const Outcome& outcome);
Result<Outcome> decode_outcome(std::span<const std::byte> bytes);

}  // namespace millrace::cli
