// MurmurHash3 of com.microsoft: the 32-bit hash MurmurHash3_x86_32 (Austin Appleby) of the bytes of
// each element. The result is UINT32, or INT32 if the attribute `positive` is 0.
#include <bit>
#include <cstring>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

uint32_t with_word(uint32_t hash, uint32_t word) {
  word = std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
  return std::rotl(hash ^ word, 13) * 5 + 0xe6546b64U;
}

uint32_t with_bits_mixed(uint32_t hash) {
  hash = (hash ^ hash >> 16) * 0x85ebca6bU;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
  return hash ^ hash >> 16;
}

// Requirement: the bytes are a whole number of words.
uint32_t hash_of(const std::byte* bytes, size_t size, uint32_t hash) {
  for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
    uint32_t word = 0;
    std::memcpy(&word, bytes + at, sizeof(word));
    hash = with_word(hash, word);
  }
  return with_bits_mixed(hash ^ static_cast<uint32_t>(size));
}

Status shape_of_hash(Inference& node) {
  const bool is_unsigned = node.integer("positive", 1) != 0;
  node.set(0, is_unsigned ? DataType::kUint32 : DataType::kInt32, to_dims(node.in(0).dims));
  return {};
}

Status murmur_hash(const Call& call) {
  const auto seed = static_cast<uint32_t>(call.integer("seed"));
  const size_t size = tensor::size_of(call.in(0).type);
  // Both types of a result are held as 32 bits.
  auto* to = reinterpret_cast<uint32_t*>(call.out(0).data);
  const std::byte* from = call.in(0).data;
  for (size_t i = 0; i < call.out(0).elements(); ++i, from += size)
    to[i] = hash_of(from, size, seed);
  return {};
}

constexpr AttributeSpec kHashAttributes[] = {{"positive", AttributeKind::kInteger},
                                             {"seed", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> murmur_hash_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.MurmurHash3",
       1,
       {},
       {},
       kReals | TypeSet{DataType::kInt32, DataType::kUint32, DataType::kInt64, DataType::kUint64},
       shape_of_hash,
       murmur_hash,
       kHashAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
