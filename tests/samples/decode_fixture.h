// A small decoder with a key-value cache, and the programs that make, compile and run it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "samples/decode/decoder_network.hpp"
#include "tests/samples/sample_fixture.h"

namespace millrace::test {

using Tokens = std::vector<int64_t>;

inline constexpr size_t kPrefill = 8, kCount = 24;
inline constexpr decoder::DecoderOptions kOptions = {.layers = 2,
                                                     .width = 64,
                                                     .heads = 2,
                                                     .kv_heads = 1,
                                                     .feed_forward = 96,
                                                     .vocabulary = 96,
                                                     .context = 48};

// A prefill takes a fixed number of tokens; those behind the given ones have no effect.
inline Tokens padded(Tokens tokens) {
  if (tokens.size() > 1) tokens.resize(kPrefill);
  return tokens;
}

// One step of a decoder: reads `tokens`, the first of which is at position `start`, and returns the
// logits after the last one.
class Steps {
 public:
  virtual ~Steps() = default;
  virtual std::vector<float> run(const Tokens& tokens, int64_t start) = 0;
};

// The tokens of a sequence, each the most likely one after those before it.
struct Generated {
  explicit Generated(Tokens prompt) : next(std::move(prompt)) {}

  // Takes the logits of the step that has read `next`.
  void add(const std::vector<float>& logits) {
    position += static_cast<int64_t>(next.size());
    made.push_back(std::ranges::max_element(logits) - logits.begin());
    next = {made.back()};
  }

  Tokens next;  // those of the next step, of which the first is at `position`
  int64_t position = 0;
  Tokens made;
};

inline Tokens generate(Steps& steps, Tokens prompt) {
  Generated generated(std::move(prompt));
  while (generated.made.size() < kCount)
    generated.add(steps.run(generated.next, generated.position));
  return generated.made;
}

inline const Tokens kPrompt = {5, 17, 3};

class Decode : public SampleTest {
 protected:
  Decode() { unsetenv("MILLRACE_DEVICE"); }

  std::string archive(decoder::Weights weights, const std::string& precision = "fp32") const {
    decoder::DecoderOptions options = kOptions;
    options.weights = weights;
    return compiled(decoder::decoder_network(options), precision);
  }

  // The archive of a decoder, given as the bytes of an ONNX file.
  std::string compiled(const std::string& network, const std::string& precision = "fp32") const {
    const std::string onnx = write("decoder.onnx", network);
    const std::string path = directory_.file("decoder.rai");
    const ProgramResult result =
        run(MILLRACE_PROGRAM,
            {"compile", onnx, "-o", path, "--precision", precision, "--profile",
             "prefill:tokens=1," + std::to_string(kPrefill), "--profile", "decode:tokens=1,1"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return path;
  }

  ProgramResult run_sample(const std::string& path, std::vector<std::string> more = {},
                           const Tokens& prompt = kPrompt) const {
    std::ostringstream list;
    for (const int64_t token : prompt) list << (list.tellp() == 0 ? "" : ",") << token;
    std::vector<std::string> arguments = {path, "--prompt", list.str(), "--tokens",
                                          std::to_string(kCount)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(MILLRACE_DECODE, arguments);
  }

  // The tokens of each sequence, as the sample prints them.
  static std::vector<Tokens> printed(const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<Tokens> sequences;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string title;
      if (!(words >> title) || title != "tokens") continue;
      sequences.emplace_back(std::istream_iterator<int64_t>(words),
                             std::istream_iterator<int64_t>());
    }
    return sequences;
  }

  Tokens decode_by_sample(const std::string& path, const Tokens& prompt = kPrompt) const {
    const std::vector<Tokens> sequences = printed(run_sample(path, {}, prompt));
    return sequences.empty() ? Tokens() : sequences.front();
  }
};

}  // namespace millrace::test
