#include "device/cpu/weights/packed_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/align.h"
#include "base/settings/environment.h"

namespace millrace::device::cpu {
namespace {

constexpr const char* kFolder = "MILLRACE_PACKED_WEIGHTS";

struct Head {
  std::array<char, 16> magic = {'m', 'i', 'l', 'l', 'r', 'a', 'c', 'e',
                                ' ', 'p', 'a', 'c', 'k', ' ', '1', '\n'};
  PackedKey key;
  uint64_t constants;
};
static_assert(sizeof(Head) == 40);

}  // namespace

PackedKey packed_key(std::string_view all) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(all.data(), all.size()));
  PackedKey key;
  static_assert(sizeof key == sizeof canonical);
  std::memcpy(key.data(), &canonical, sizeof key);
  return key;
}

size_t packed_head_bytes(size_t constants) {
  return align_up(sizeof(Head) + constants * sizeof(uint64_t), kPage);
}

void write_packed_head(std::span<std::byte> head, const PackedKey& key,
                       std::span<const uint64_t> checksums) {
  const Head fields{.key = key, .constants = checksums.size()};
  std::memset(head.data(), 0, head.size());
  std::memcpy(head.data(), &fields, sizeof fields);
  std::memcpy(head.data() + sizeof fields, checksums.data(), checksums.size_bytes());
}

bool has_packed_folder() {
  return !environment_variable(kFolder).empty();
}

std::string packed_path(const PackedKey& key) {
  const std::string_view folder = environment_variable(kFolder);
  if (folder.empty()) return {};
  std::string name;
  for (const std::byte byte : key) name += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return (std::filesystem::path(folder) / (name + ".packed")).string();
}

Result<std::shared_ptr<const model::MappedFile>> open_packed(const std::string& path,
                                                             const PackedKey& key, size_t constants,
                                                             size_t bytes) {
  MILLRACE_ASSIGN_OR_RETURN(model::MappedFile file, model::MappedFile::open(path));
  const Head expected{.key = key, .constants = constants};
  if (file.bytes().size() != bytes ||
      std::memcmp(file.bytes().data(), &expected, sizeof expected) != 0)
    return corrupt_data("it does not hold these weights");
  return std::make_shared<const model::MappedFile>(std::move(file));
}

uint64_t packed_checksum(const model::MappedFile& file, size_t constant) {
  uint64_t checksum = 0;
  std::memcpy(&checksum, file.bytes().data() + sizeof(Head) + constant * sizeof checksum,
              sizeof checksum);
  return checksum;
}

}  // namespace millrace::device::cpu
