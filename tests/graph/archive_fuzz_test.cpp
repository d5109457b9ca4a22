// Seeded damage to an archive, with the checksums corrected so that it reaches the checks behind
// them. Whatever still decodes must be a model that encodes and decodes to itself; nothing may
// crash, hang or read outside (the sanitizer builds see to that).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "graph/archive/codec.h"
#include "tests/graph/all_operators_model.h"
#include "tests/graph/dynamic_model.h"
#include "tests/support/archive_mutation.h"

namespace millrace::graph {
namespace {

constexpr uint64_t kSeeds = 4000;

enum class Outcome { kRefusedByContainer, kRefusedByCodec, kDecoded };

Outcome try_archive(const std::vector<std::byte>& bytes) {
  auto archive = model::Archive::from_memory(bytes, nullptr);
  if (!archive.ok()) {
    const StatusCode code = archive.status().code();
    EXPECT_TRUE(code == StatusCode::kCorruptData || code == StatusCode::kUnsupported)
        << archive.status().to_string();
    return Outcome::kRefusedByContainer;
  }
  auto model = decode(*archive);
  if (!model.ok()) {
    EXPECT_EQ(model.status().code(), StatusCode::kCorruptData) << model.status().to_string();
    return Outcome::kRefusedByCodec;
  }
  const std::vector<std::byte> encoded = archive_bytes(encode(*model));
  auto again = model::Archive::from_memory(encoded, nullptr);
  EXPECT_TRUE(again.ok()) << again.status().to_string();
  if (again.ok()) {
    EXPECT_TRUE(decode(*again).ok());
  }
  return Outcome::kDecoded;
}

void try_damage(const CompiledModel& model) {
  const std::vector<std::byte> intact = archive_bytes(encode(model));
  std::map<Outcome, uint64_t> outcomes;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++outcomes[try_archive(test::mutate(intact, seed))];
  }
  // The mutations are useful only as long as many of them reach each of the checks.
  EXPECT_GT(outcomes[Outcome::kRefusedByContainer], kSeeds / 20);
  EXPECT_GT(outcomes[Outcome::kRefusedByCodec], kSeeds / 20);
  EXPECT_GT(outcomes[Outcome::kDecoded], kSeeds / 20);
  using ::testing::Test;
  const auto count = [&](Outcome outcome) { return std::to_string(outcomes[outcome]); };
  Test::RecordProperty("refused_by_container", count(Outcome::kRefusedByContainer));
  Test::RecordProperty("refused_by_codec", count(Outcome::kRefusedByCodec));
  Test::RecordProperty("decoded", count(Outcome::kDecoded));
}

TEST(ArchiveFuzz, DamageIsRefusedOrHarmless) {
  try_damage(test::all_operators_model());
}

TEST(ArchiveFuzz, DamageToANetworkIsRefusedOrHarmless) {
  try_damage(test::dynamic_model());
}

TEST(ArchiveFuzz, EveryTruncationIsRefused) {
  const std::vector<std::byte> intact = archive_bytes(encode(test::all_operators_model()));
  for (size_t length = 0; length < intact.size(); ++length) {
    const auto cut = std::span(intact).first(length);
    ASSERT_EQ(model::Archive::from_memory(cut, nullptr).status().code(), StatusCode::kCorruptData)
        << "at " << length;
  }
}

TEST(ArchiveFuzz, TheSameSeedGivesTheSameDamage) {
  const std::vector<std::byte> intact = archive_bytes(encode(test::all_operators_model()));
  EXPECT_EQ(test::mutate(intact, 7), test::mutate(intact, 7));
  EXPECT_NE(test::mutate(intact, 7), intact);
}

TEST(ArchiveFuzz, FixedChecksumsOfAnIntactArchiveAreItsOwn) {
  const std::vector<std::byte> intact = archive_bytes(encode(test::all_operators_model()));
  std::vector<std::byte> fixed = intact;
  test::fix_checksums(fixed);
  EXPECT_EQ(fixed, intact);
}

}  // namespace
}  // namespace millrace::graph
