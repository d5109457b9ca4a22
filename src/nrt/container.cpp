#include "nrt/container.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace millrace::nrt {
namespace {

// The published header of a NEFF, as far as it matters here: little-endian numbers.
constexpr size_t kHeaderBytes = 1024;
constexpr size_t kPackageVersionAt = 0, kHeaderSizeAt = 8, kDataSizeAt = 16, kMajorAt = 24,
                 kMinorAt = 32, kNameAt = 220, kNameBytes = 256;
constexpr uint64_t kHighestPackageVersion = 64;  // far above what there is

uint64_t number_at(std::span<const std::byte> bytes, size_t at) noexcept {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

bool looks_like_neff(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kHeaderBytes && number_at(bytes, kHeaderSizeAt) == kHeaderBytes &&
         number_at(bytes, kPackageVersionAt) <= kHighestPackageVersion &&
         number_at(bytes, kDataSizeAt) != 0;
}

}  // namespace

Status check_container(std::span<const std::byte> bytes) {
  if (!looks_like_neff(bytes)) return {};
  const auto* const name = reinterpret_cast<const char*>(bytes.data() + kNameAt);
  return unsupported(fmt::format(
      "these {} bytes are a NEFF (package version {}, NEFF version {}.{}, name \"{}\"): it holds "
      "instructions for a Neuron core, which cannot run here. Compile the model's ONNX file with "
      "`millrace compile` and load the .rai archive",
      bytes.size(), number_at(bytes, kPackageVersionAt), number_at(bytes, kMajorAt),
      number_at(bytes, kMinorAt), std::string_view(name, strnlen(name, kNameBytes))));
}

}  // namespace millrace::nrt
