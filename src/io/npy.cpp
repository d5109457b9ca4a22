// The header is a Python dictionary literal. This parser only looks for its three keys, in the form
// that NumPy writes, and checks every length before it uses it.
#include "io/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "io/file.h"

namespace millrace::io {
namespace {

using tensor::DataType;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kFixedPart = 8;  // magic and version
constexpr uint64_t kMaxElements = uint64_t{1} << 40;
// NumPy's own limit for the header of a file that is not trusted.
constexpr size_t kMaxHeader = 10'000;
constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kShapeCharacters = "0123456789, \t\n\v\f\r";

const std::map<std::string_view, DataType>& numpy_types() {
  static const std::map<std::string_view, DataType> types = {
      {"|b1", DataType::kBoolean}, {"|i1", DataType::kInt8},   {"|u1", DataType::kUint8},
      {"<i2", DataType::kInt16},   {"<u2", DataType::kUint16}, {"<f2", DataType::kFp16},
      {"<i4", DataType::kInt32},   {"<u4", DataType::kUint32}, {"<f4", DataType::kFloat32},
      {"<i8", DataType::kInt64},   {"<u8", DataType::kUint64}, {"<f8", DataType::kFloat64}};
  return types;
}

Result<DataType> type_of(std::string_view descr) {
  const auto& types = numpy_types();
  const auto found = types.find(descr);
  if (found != types.end()) return found->second;
  return unsupported(fmt::format("the NumPy type '{}' is not supported", descr));
}

// The range of the textual header: its offset and length in bytes.
struct HeaderRange {
  size_t offset;
  size_t length;
};

Result<HeaderRange> find_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kFixedPart + 2 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return corrupt_data("not a .npy file (no NumPy magic)");
  const size_t length_bytes = std::to_integer<int>(bytes[kMagic.size()]) == 1 ? 2 : 4;
  uint32_t length = 0;
  if (bytes.size() < kFixedPart + length_bytes) return corrupt_data("the header is truncated");
  std::memcpy(&length, bytes.data() + kFixedPart, length_bytes);
  const HeaderRange range{kFixedPart + length_bytes, length};
  if (range.length > kMaxHeader) return corrupt_data("the header is implausibly long");
  if (bytes.size() - range.offset < range.length) return corrupt_data("the header is truncated");
  return range;
}

// Parses the dimensions of a tuple. Requirement: `text` has only digits, commas and blanks.
Result<std::vector<uint32_t>> parse_shape(std::string_view text) {
  std::vector<uint32_t> shape;
  uint64_t elements = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  while ((at = std::find_if(at, end, [](char c) { return c >= '0' && c <= '9'; })) != end) {
    uint32_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || __builtin_mul_overflow(elements, dim, &elements) ||
        elements > kMaxElements)
      return corrupt_data("the shape is implausibly large");
    shape.push_back(dim);
    at = next;
  }
  return shape;
}

std::string_view without_blanks_in_front(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Returns the text after "'key':" in the header, without leading blanks; empty if the key is
// missing.
std::string_view behind_key(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}'", key);
  for (size_t at = header.find(quoted); at != header.npos; at = header.find(quoted, at + 1)) {
    const std::string_view rest = without_blanks_in_front(header.substr(at + quoted.size()));
    if (rest.starts_with(':')) return without_blanks_in_front(rest.substr(1));
  }
  return {};
}

// Returns the text between `open`, which must be its first character, and the first `close`;
// nullopt without both.
std::optional<std::string_view> enclosed(std::string_view text, char open, char close) {
  if (!text.starts_with(open)) return std::nullopt;
  const size_t end = text.find(close, 1);
  if (end == text.npos) return std::nullopt;
  return text.substr(1, end - 1);
}

// The header is a Python dictionary literal with exactly three keys; NumPy writes it in this form.
Status parse_header(std::string_view header, Array* array) {
  const auto descr = enclosed(behind_key(header, "descr"), '\'', '\'');
  if (!descr) return unsupported("structured or missing 'descr' in the header");
  MILLRACE_ASSIGN_OR_RETURN(array->type, type_of(*descr));
  const std::string_view fortran_order = behind_key(header, "fortran_order");
  if (fortran_order.starts_with("True"))
    return unsupported("Fortran order is not supported; save the array with order='C'");
  if (!fortran_order.starts_with("False")) return corrupt_data("no 'fortran_order'");
  const auto shape = enclosed(behind_key(header, "shape"), '(', ')');
  if (!shape || shape->find_first_not_of(kShapeCharacters) != shape->npos)
    return corrupt_data("no 'shape'");
  MILLRACE_ASSIGN_OR_RETURN(array->shape, parse_shape(*shape));
  return {};
}

Result<Array> parse(std::span<const std::byte> bytes) {
  MILLRACE_ASSIGN_OR_RETURN(const HeaderRange range, find_header(bytes));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  Array array;
  MILLRACE_RETURN_IF_ERROR(parse_header({text + range.offset, range.length}, &array));
  uint64_t expected = tensor::size_of(array.type);
  for (const uint32_t dim : array.shape) expected *= dim;
  const auto data = bytes.subspan(range.offset + range.length);
  if (data.size() != expected)
    return corrupt_data(
        fmt::format("there are {} bytes of data, but the shape needs {}", data.size(), expected));
  array.bytes.assign(data.begin(), data.end());
  return array;
}

}  // namespace

Result<Array> read_npy(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  Result<Array> array = parse(bytes);
  if (!array.ok()) return array.status().with_context(path);
  return array;
}

Result<std::vector<std::byte>> npy_bytes(const Array& array) {
  const auto type =
      std::ranges::find(numpy_types(), array.type, [](const auto& entry) { return entry.second; });
  if (type == numpy_types().end())
    return unsupported(fmt::format("NumPy has no type {}", tensor::to_string(array.type)));
  // A tuple of one needs its comma.
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type->first,
                  fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  // The data begin at a multiple of 64 bytes, behind a line feed.
  constexpr size_t kAlignment = 64, kLengthBytes = 2;
  const size_t used = kFixedPart + kLengthBytes + header.size() + 1;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += {'\x01', '\0', static_cast<char>(header.size() & 0xFF),
           static_cast<char>(header.size() >> 8)};
  file += header;
  const auto text = std::as_bytes(std::span(file));
  std::vector<std::byte> bytes(text.begin(), text.end());
  bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  return bytes;
}

}  // namespace millrace::io
