#include "cli/conformance/outcome.h"

#include <gtest/gtest.h>

#include <limits>

namespace millrace::test {
namespace {

using cli::Outcome;
using cli::Verdict;

TEST(Outcome, ComesBackAsItWas) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Outcome& outcome :
       {Outcome{Verdict::kFail, "two\nlines", {infinity, infinity}},
        Outcome{Verdict::kPass, "", {0.0, 0}}, Outcome{Verdict::kUnsupported, "why", {{}, 3}}}) {
    const auto back = cli::decode_outcome(cli::encode_outcome(outcome));
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(back->verdict, outcome.verdict);
    EXPECT_EQ(back->reason, outcome.reason);
    EXPECT_EQ(back->error.ulp, outcome.error.ulp);
    EXPECT_EQ(back->error.absolute, outcome.error.absolute);
  }
}

TEST(Outcome, OtherBytesAreNone) {
  const auto whole = cli::encode_outcome({});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(cli::decode_outcome(std::span(whole).first(bytes)).status().code(),
              StatusCode::kCorruptData);
  for (size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= std::byte{0xff};
    static_cast<void>(cli::decode_outcome(changed));  // anything but a crash
  }
}

TEST(Outcome, ErrorsOfIntegersHaveNoUlp) {
  EXPECT_EQ(cli::describe(cli::LargestError{{}, 3}), "3 absolute");
  EXPECT_EQ(cli::describe(cli::LargestError{2.0, 1.25e-7}), "2 ULP, 1.25e-07 absolute");
}

}  // namespace
}  // namespace millrace::test
