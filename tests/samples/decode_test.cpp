// A decoder with a key-value cache generates the same tokens through the native API (the sample
// `decode`), VART and NRT, one sequence alone as well as several in flight. In each, the caches
// stay in their tensors from job to job: a tensor is bound both as the past and as the present one.
#include <array>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "samples/decode/sampling.hpp"
#include "tests/samples/decode_steps.h"

namespace millrace::test {
namespace {

using decoder::Weights;
using testing::ElementsAre;
using testing::HasSubstr;

struct Golden {
  const char* name;
  Weights weights;
  Tokens tokens;  // of ONNX Runtime 1.30.0, by samples/decode/golden.mjs
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.name;
}

const std::array<Tokens, 3> kPrompts = {Tokens{5, 17, 3}, {40, 2}, {9, 88, 61, 7}};

// Generates with all sequences in flight: each round submits a step of each, and then waits for
// all.
std::vector<Tokens> generate_together(const std::array<AsyncSteps*, 3>& sequences) {
  std::vector<Generated> generated(kPrompts.begin(), kPrompts.end());
  for (size_t round = 0; round < kCount; ++round) {
    for (size_t i = 0; i < sequences.size(); ++i)
      sequences[i]->submit(generated[i].next, generated[i].position);
    for (size_t i = 0; i < sequences.size(); ++i) generated[i].add(sequences[i]->wait());
  }
  std::vector<Tokens> made;
  for (const Generated& sequence : generated) made.push_back(sequence.made);
  return made;
}

// Sequences of equal tokens could stand for each other.
void expect_different(const std::vector<Tokens>& sequences) {
  EXPECT_EQ(std::set<Tokens>(sequences.begin(), sequences.end()).size(), sequences.size());
}

class DecodeWeights : public Decode, public testing::WithParamInterface<Golden> {};

TEST_P(DecodeWeights, AllApisGenerateTheTokensOfOnnxRuntime) {
  const auto& [name, weights, expected] = GetParam();
  const std::string path = archive(weights);
  EXPECT_EQ(decode_by_sample(path), expected);
  VartSteps vart{VartDecoder(path)};
  EXPECT_EQ(generate(vart, kPrompt), expected);
  const NrtDecoder decoder(path);
  NrtSteps nrt(decoder);
  EXPECT_EQ(generate(nrt, kPrompt), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, DecodeWeights,
    testing::Values(Golden{"fp32", Weights::kFloat32, {9, 10, 18, 60, 9,  10, 18, 60,
                                                       9, 10, 18, 60, 9,  10, 18, 60,
                                                       9, 78, 39, 65, 28, 72, 27, 44}},
                    Golden{"int8", Weights::kInt8, {9, 10, 18, 60, 9, 10, 18, 60, 9,  10, 18, 60,
                                                    9, 10, 18, 60, 9, 78, 39, 65, 28, 72, 27, 44}},
                    Golden{"int4", Weights::kInt4, {9, 10, 18, 60, 9, 10, 18, 60, 9, 10, 18, 60,
                                                    9, 10, 18, 60, 9, 10, 18, 60, 9, 78, 39, 19}}));

// A prompt that is longer than a prefill, and one that is read token by token, fill the same cache.
TEST_F(Decode, APromptMayBeReadInParts) {
  const VartDecoder decoder(archive(Weights::kFloat32));
  VartSteps whole(decoder), parts(decoder);
  const Tokens prompt = {5, 17, 3, 40, 2, 9};
  for (size_t i = 0; i + 1 < prompt.size(); ++i) parts.run({prompt[i]}, static_cast<int64_t>(i));
  const std::vector<float> at_once = whole.run(prompt, 0);
  const std::vector<float> last = parts.run({prompt.back()}, 5);
  ASSERT_EQ(at_once.size(), last.size());
  for (size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(at_once[i], last[i], 1e-4) << i;
}

// The prompt of each further sequence of the sample ends with the token after that of the one
// before.
TEST_F(Decode, SequencesInFlightDoNotDisturbEachOther) {
  const std::string path = archive(Weights::kFloat32);
  const std::vector<Tokens> together = printed(run_sample(path, {"--sequences", "3"}));
  std::vector<Tokens> alone;
  Tokens prompt = kPrompt;
  for (; alone.size() < 3; ++prompt.back()) alone.push_back(decode_by_sample(path, prompt));
  EXPECT_EQ(together, alone);
  expect_different(alone);
}

TEST_F(Decode, SequencesInFlightOfVart) {
  const VartDecoder decoder(archive(Weights::kFloat32));
  std::vector<Tokens> alone;
  for (const Tokens& prompt : kPrompts) {
    VartSteps steps(decoder);
    alone.push_back(generate(steps, prompt));
  }
  VartSteps first(decoder), second(decoder), third(decoder);
  EXPECT_EQ(generate_together({&first, &second, &third}), alone);
  expect_different(alone);
}

// A core runs one execution after another, so there are two cores.
TEST_F(Decode, SequencesInFlightOfNrt) {
  const NrtDecoder decoder(archive(Weights::kFloat32), 2);
  std::vector<Tokens> alone;
  for (const Tokens& prompt : kPrompts) {
    NrtSteps steps(decoder);
    alone.push_back(generate(steps, prompt));
  }
  NrtSteps first(decoder, 0), second(decoder, 1), third(decoder, 0);
  EXPECT_EQ(generate_together({&first, &second, &third}), alone);
  expect_different(alone);
}

TEST_F(Decode, TheTimeOfTheFirstTokenAndTheRateArePrinted) {
  const ProgramResult result = run_sample(archive(Weights::kFloat32));
  EXPECT_THAT(result.out, testing::ContainsRegex("\nfirst token   [0-9]+\\.[0-9]{2} ms\n"
                                                 "tokens/s      [0-9]+\\.[0-9]\n$"));
}

// The tokens have the probabilities 0.665, 0.245, 0.090 and 0.000004, and at temperature 0.5 the
// first has 0.867.
TEST(Sampling, DrawsComeFromTheNucleus) {
  const auto drawn = [](float top_p, float temperature = 1) {
    constexpr std::array<float, 4> kLogits = {3, 2, 1, -9};
    std::mt19937 random(1);
    std::set<int64_t> tokens;
    for (int i = 0; i < 1000; ++i)
      tokens.insert(decoder::draw(kLogits, top_p, temperature, random));
    return tokens;
  };
  EXPECT_THAT(drawn(0.5F), ElementsAre(0));
  EXPECT_THAT(drawn(0.9F), ElementsAre(0, 1));
  EXPECT_THAT(drawn(0.99F), ElementsAre(0, 1, 2));
  EXPECT_THAT(drawn(0.8F), ElementsAre(0, 1));
  EXPECT_THAT(drawn(0.8F, 0.5F), ElementsAre(0));
}

TEST_F(Decode, DrawsAreRepeatable) {
  const std::string path = archive(Weights::kFloat32);
  const auto drawn = [&](const char* seed) {
    return printed(run_sample(path, {"--top-p", "0.9", "--seed", seed}));
  };
  EXPECT_EQ(drawn("3"), drawn("3"));
  EXPECT_NE(drawn("3"), drawn("4"));
}

// The caches of the CPU view are FP32. ONNX Runtime has no BF16 to compare with.
TEST_F(Decode, AllApisGenerateTheSameTokensInBf16) {
  const std::string path = archive(Weights::kFloat32, "bf16");
  const Tokens tokens = decode_by_sample(path);
  EXPECT_EQ(tokens.size(), kCount);
  VartSteps vart{VartDecoder(path, true)};
  EXPECT_EQ(generate(vart, kPrompt), tokens);
  const NrtDecoder decoder(path);
  NrtSteps nrt(decoder);
  EXPECT_EQ(generate(nrt, kPrompt), tokens);
}

TEST_F(Decode, SaysWhatIsWrong) {
  const std::string path = archive(Weights::kFloat32);
  EXPECT_THAT(run_sample(path, {"--prompt", "5,96"}).err, HasSubstr("not in the vocabulary"));
  const ProgramResult other = run_sample(model());
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("the profiles are none"));
}

}  // namespace
}  // namespace millrace::test
