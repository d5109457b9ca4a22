// A step of a decoder does not copy the caches that stay in their tensors: a program of its own,
// because it replaces memcpy.
#include <cstdlib>

#include "tests/samples/decode_steps.h"
#include "tests/vart/copy_counter.h"

namespace millrace::test {
namespace {

// With this context each cache is large beside everything else that a step moves.
constexpr int64_t kContext = 512;
static_assert(kContext * kOptions.width / kOptions.heads * kOptions.kv_heads * sizeof(float) >=
              16 * kLargeCopy);

class DecodeNoCopy : public Decode {
 protected:
  std::string archive_with_large_caches() const {
    decoder::DecoderOptions options = kOptions;
    options.context = kContext;
    return compiled(decoder::decoder_network(options));
  }

  // Large copies of a decode step after the first, which makes what is kept.
  static uint64_t copies_of_a_step(Steps& steps) {
    steps.run(kPrompt, 0);
    int64_t position = static_cast<int64_t>(kPrompt.size());
    steps.run({1}, position++);
    const uint64_t before = large_copies();
    steps.run({2}, position);
    return large_copies() - before;
  }

  // A step whose caches are in other tensors afterwards copies each of them.
  static constexpr uint64_t kCaches = 2 * kOptions.layers;
};

TEST_F(DecodeNoCopy, OfCachesThatStayInTheirTensorsInVart) {
  const VartDecoder decoder(archive_with_large_caches());
  VartSteps in_place(decoder), separate(decoder, Caches::kSeparate);
  EXPECT_EQ(copies_of_a_step(in_place), 0u);
  EXPECT_GE(copies_of_a_step(separate), kCaches);
}

TEST_F(DecodeNoCopy, OfCachesThatStayInTheirTensorsInNrt) {
  const NrtDecoder decoder(archive_with_large_caches());
  NrtSteps in_place(decoder, 0, Caches::kInPlace, kContext);
  NrtSteps separate(decoder, 0, Caches::kSeparate, kContext);
  EXPECT_EQ(copies_of_a_step(in_place), 0u);
  EXPECT_GE(copies_of_a_step(separate), kCaches);
}

// A dump has the inputs as they were when the execution began.
TEST_F(DecodeNoCopy, ExceptWhereNrtMayHaveToDumpInputs) {
  setenv("NEURON_RT_DBG_DUMP_INPUTS_ON_ERR", "NRT_FAILURE", 1);
  const NrtDecoder decoder(archive_with_large_caches());
  unsetenv("NEURON_RT_DBG_DUMP_INPUTS_ON_ERR");
  NrtSteps in_place(decoder, 0, Caches::kInPlace, kContext);
  EXPECT_GE(copies_of_a_step(in_place), kCaches);
}

}  // namespace
}  // namespace millrace::test
