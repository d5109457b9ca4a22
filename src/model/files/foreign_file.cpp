#include "model/files/foreign_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace millrace::model {
namespace {

// The fields of the published NEFF header that are used here, as byte offsets. Numbers are
// little-endian.
constexpr size_t kNeffHeaderBytes = 1024;
constexpr size_t kPackageVersionAt = 0, kNeffHeaderSizeAt = 8, kDataSizeAt = 16, kMajorAt = 24,
                 kMinorAt = 32, kNameAt = 220, kNameBytes = 256;
constexpr uint64_t kHighestPackageVersion = 64;  // much higher than any existing version

uint64_t number_at(std::span<const std::byte> bytes, size_t at) noexcept {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Requirement: looks_like_neff(bytes).
std::string describe_neff(std::span<const std::byte> bytes) {
  const auto* const name = reinterpret_cast<const char*>(bytes.data() + kNameAt);
  return fmt::format(
      "a NEFF (package version {}, NEFF version {}.{}, name \"{}\"): it holds instructions for a "
      "Neuron core, which cannot run here. Compile the model's ONNX file with `millrace compile` "
      "and load the .rai archive",
      number_at(bytes, kPackageVersionAt), number_at(bytes, kMajorAt), number_at(bytes, kMinorAt),
      std::string_view(name, strnlen(name, kNameBytes)));
}

struct Signature {
  size_t at;
  std::string_view bytes;
  std::string_view meaning;
};

constexpr Signature kSignatures[] = {
    {0, "\x89RAI\r\n\x1a\n", "an archive of Millrace, which is compiled already"},
    {0, "\x89RAI", "an archive damaged by a transfer in text mode: copy it in binary mode"},
    {4, "MRAI", "the bare structure of an archive, without its header"},
    {4, "TFL3", "a TensorFlow Lite model"},
    {8, "{\"", "a safetensors file"},
    {0, "PK\x03\x04", "a ZIP file"},
    {0, "\x1f\x8b", "a gzip file"},
    {0, "\x89PNG", "a PNG picture"},
    {0, "\xff\xd8\xff", "a JPEG picture"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0, "\x89HDF", "an HDF5 file"},
    {0, "version https://git-lfs", "a Git LFS pointer: fetch the real file with `git lfs pull`"},
    {0,
     "\x7f"
     "ELF",
     "an ELF program or library"},
};

// Signatures of text formats, which may be preceded by blank lines.
constexpr Signature kTextSignatures[] = {
    {0, "<", "an HTML or XML page"},
    {0, "{", "a JSON file"},
};

bool starts_with(std::span<const std::byte> bytes, std::string_view prefix, size_t at) noexcept {
  return bytes.size() >= at + prefix.size() &&
         std::memcmp(bytes.data() + at, prefix.data(), prefix.size()) == 0;
}

// Returns the bytes without leading blanks and line ends.
std::span<const std::byte> without_leading_blanks(std::span<const std::byte> bytes) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return bytes.subspan(std::min(text.find_first_not_of(" \t\r\n"), bytes.size()));
}

// Describes the first bytes: as text if the first non-blank line is printable, else in hexadecimal.
std::string beginning(std::span<const std::byte> bytes) {
  constexpr size_t kCharacters = 24, kNumbers = 8;
  const std::span<const std::byte> rest = without_leading_blanks(bytes);
  if (rest.empty()) return "nothing but blanks";
  const std::string_view start(reinterpret_cast<const char*>(rest.data()),
                               std::min(rest.size(), kCharacters));
  const std::string_view line = start.substr(0, start.find_first_of("\r\n"));
  if (std::ranges::all_of(line, [](unsigned char c) { return std::isprint(c) != 0 || c == '\t'; }))
    return fmt::format("text, \"{}\"", line);
  std::string numbers;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kNumbers)))
    numbers += fmt::format("{}{:02x}", numbers.empty() ? "" : " ", std::to_integer<unsigned>(byte));
  return "the bytes " + numbers;
}

}  // namespace

bool looks_like_neff(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kNeffHeaderBytes &&
         number_at(bytes, kNeffHeaderSizeAt) == kNeffHeaderBytes &&
         number_at(bytes, kPackageVersionAt) <= kHighestPackageVersion &&
         number_at(bytes, kDataSizeAt) != 0;
}

// An ONNX file begins with field 1, the IR version, followed by the tag of another field of
// ModelProto: producer, domain, graph, opset import and the like, all small field numbers.
bool looks_like_onnx(std::span<const std::byte> bytes) noexcept {
  constexpr size_t kPrefix = 3;
  if (bytes.size() < kPrefix || bytes[0] != std::byte{0x08}) return false;
  const auto ir_version = std::to_integer<unsigned>(bytes[1]);
  const auto tag = std::to_integer<unsigned>(bytes[2]);
  return ir_version >= 1 && ir_version < 0x40 && (tag & 7u) == 2 && (tag >> 3) >= 2;
}

std::string recognise(std::span<const std::byte> bytes) {
  for (const Signature& signature : kSignatures) {
    if (starts_with(bytes, signature.bytes, signature.at)) return std::string(signature.meaning);
  }
  if (looks_like_neff(bytes)) return describe_neff(bytes);
  if (looks_like_onnx(bytes))
    return "an ONNX model: compile it first (millrace compile MODEL.onnx -o MODEL.rai)";
  const std::span<const std::byte> text = without_leading_blanks(bytes);
  for (const Signature& signature : kTextSignatures) {
    if (starts_with(text, signature.bytes, signature.at)) return std::string(signature.meaning);
  }
  return {};
}

std::string describe_foreign(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "it is empty";
  const std::string kind = recognise(bytes);
  return kind.empty() ? "it begins with " + beginning(bytes) : "it seems to be " + kind;
}

}  // namespace millrace::model
