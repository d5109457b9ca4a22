// Changes archives field by field: the FlatBuffer stays valid, and the checksums match, so that
// what comes behind the verifier is reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace millrace::fuzz {

using Random = std::mt19937;

// A changed copy of the archive in file form, which is to be intact; where it is not, a copy.
std::vector<std::byte> change_archive(std::span<const std::byte> archive, Random& random);

}  // namespace millrace::fuzz
