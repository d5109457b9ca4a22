// The hashes are those of the published MurmurHash3_x86_32, computed by another implementation.
#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::compute;
using test::vector_of;
using ::testing::ElementsAre;

constexpr const char* kHash = "com.microsoft.MurmurHash3";

TEST(FallbackMurmurHash3, HashesTheBytesOfEachElement) {
  const auto hashes = compute(kHash, {vector_of<int32_t>({3, 0, -1})});
  EXPECT_EQ(hashes.type, DataType::kUint32);
  EXPECT_THAT(hashes.as<uint32_t>(), ElementsAre(847579505u, 593689054u, 1982413648u));
  EXPECT_THAT(compute(kHash, {vector_of<int64_t>({3, -7})}).as<uint32_t>(),
              ElementsAre(2738575283u, 2591759733u));
  EXPECT_THAT(compute(kHash, {vector_of<double>({1.5})}).as<uint32_t>(), ElementsAre(4034560987u));
}

TEST(FallbackMurmurHash3, HasASeedAndASign) {
  const auto three = vector_of<int32_t>({3});
  const auto hash = compute(kHash, {three}, {{"positive", int64_t{0}}, {"seed", int64_t{42}}});
  EXPECT_EQ(hash.type, DataType::kInt32);
  EXPECT_THAT(hash.as<int32_t>(), ElementsAre(-1823081949));
  EXPECT_THAT(compute(kHash, {three}, {{"seed", int64_t{42}}}).as<uint32_t>(),
              ElementsAre(2471885347u));
}

}  // namespace
}  // namespace millrace::fallback
