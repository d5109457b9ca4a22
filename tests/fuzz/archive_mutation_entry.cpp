// The mutations of targets whose input is an archive.
#include <algorithm>

#include "tests/fuzz/archive_mutator.h"
#include "tests/support/archive_mutation.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Four of five change fields, the others any bytes; most with checksums that match again.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  millrace::fuzz::Random random(seed);
  const auto input = std::as_writable_bytes(std::span(data, max_size));
  const unsigned kind = random() % 20;
  if (kind < 16) {
    const auto changed = millrace::fuzz::change_archive(input.first(size), random);
    if (changed.size() <= max_size && !std::ranges::equal(changed, input.first(size))) {
      std::ranges::copy(changed, input.begin());
      return changed.size();
    }
  }
  const size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  if (kind != 19) millrace::test::fix_checksums(input.first(mutated));
  return mutated;
}
