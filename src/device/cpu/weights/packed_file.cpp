#include "device/cpu/weights/packed_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/align.h"
#include "base/settings/environment.h"
#include "model/checksum.h"

namespace millrace::device::cpu {
namespace {

constexpr const char* kFolder = "MILLRACE_PACKED_WEIGHTS";

struct Head {
  std::array<char, 16> magic = {'m', 'i', 'l', 'l', 'r', 'a', 'c', 'e',
                                ' ', 'p', 'a', 'c', 'k', ' ', '2', '\n'};
  PackedOrigin origin;
  uint64_t constants;
  uint64_t checksum;
};
static_assert(sizeof(Head) == 80);

// Returns the checksum of all bytes before it, and of the checksums of the constants.
uint64_t head_checksum(const Head& head, std::span<const std::byte> checksums) {
  std::vector<std::byte> all(offsetof(Head, checksum) + checksums.size());
  std::memcpy(all.data(), &head, offsetof(Head, checksum));
  std::ranges::copy(checksums, all.begin() + offsetof(Head, checksum));
  return model::checksum_of(all);
}

Status check_head(const Head& head, const PackedOrigin& origin, size_t constants) {
  if (head.magic != Head().magic || head.constants != constants)
    return corrupt_data("it does not hold these weights");
  if (head.origin.constants != origin.constants)
    return corrupt_data("it holds the weights of another model");
  if (head.origin.layouts != origin.layouts)
    return corrupt_data("it holds these weights in other layouts");
  if (head.origin.maker != origin.maker)
    return corrupt_data("it was made by another version of oneDNN, or with other instructions");
  return {};
}

}  // namespace

PackedHash packed_hash(std::string_view all) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(all.data(), all.size()));
  PackedHash hash;
  static_assert(sizeof hash == sizeof canonical);
  std::memcpy(hash.data(), &canonical, sizeof hash);
  return hash;
}

size_t packed_head_bytes(size_t constants) {
  return align_up(sizeof(Head) + constants * sizeof(uint64_t), kPage);
}

void write_packed_head(std::span<std::byte> head, const PackedOrigin& origin,
                       std::span<const uint64_t> checksums) {
  Head fields{.origin = origin, .constants = checksums.size(), .checksum = 0};
  fields.checksum = head_checksum(fields, std::as_bytes(checksums));
  std::memset(head.data(), 0, head.size());
  std::memcpy(head.data(), &fields, sizeof fields);
  std::memcpy(head.data() + sizeof fields, checksums.data(), checksums.size_bytes());
}

std::string packed_folder() {
  return std::string(environment_variable(kFolder));
}

std::string packed_path(const std::string& folder, const PackedOrigin& origin) {
  static_assert(sizeof origin == 3 * sizeof(PackedHash));
  std::string name;
  for (const std::byte byte : packed_hash({reinterpret_cast<const char*>(&origin), sizeof origin}))
    name += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return (std::filesystem::path(folder) / (name + ".packed")).string();
}

Result<std::shared_ptr<const model::MappedFile>> open_packed(const std::string& path,
                                                             const PackedOrigin& origin,
                                                             size_t constants, size_t bytes) {
  MILLRACE_ASSIGN_OR_RETURN(model::MappedFile file, model::MappedFile::open_trusted(path));
  if (file.bytes().size() != bytes) return corrupt_data("it does not hold these weights");
  Head head{};
  std::memcpy(&head, file.bytes().data(), sizeof head);
  MILLRACE_RETURN_IF_ERROR(check_head(head, origin, constants));
  const auto checksums = file.bytes().subspan(sizeof head, constants * sizeof(uint64_t));
  if (head_checksum(head, checksums) != head.checksum) return corrupt_data("it is damaged");
  return std::make_shared<const model::MappedFile>(std::move(file));
}

uint64_t packed_checksum(const model::MappedFile& file, size_t constant) {
  uint64_t checksum = 0;
  std::memcpy(&checksum, file.bytes().data() + sizeof(Head) + constant * sizeof checksum,
              sizeof checksum);
  return checksum;
}

}  // namespace millrace::device::cpu
