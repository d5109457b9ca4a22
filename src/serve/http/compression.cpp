// Bodies are unpacked into a block that grows fourfold, so that a small body cannot take the memory
// of the largest one.
#include "serve/http/compression.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <utility>

namespace millrace::serve {
namespace {

constexpr int kWindow = 15;           // the largest of both formats
constexpr int kGzipWindow = 15 + 16;  // by the convention of zlib
constexpr size_t kFirstUnpacked = 64 << 10;
constexpr size_t kUnpackedGrowth = 4;
constexpr size_t kMostOfZlib = std::numeric_limits<uInt>::max();

int window_of(Coding coding) {
  return coding == Coding::kGzip ? kGzipWindow : kWindow;
}

// zlib reads its input through a pointer to bytes that are not constant, and leaves them as they
// are.
Bytef* input_of(const std::byte* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes));
}

class Inflation {
 public:
  Inflation(std::span<const std::byte> packed, Coding coding) : packed_(packed) {
    ready_ = inflateInit2(&stream_, window_of(coding)) == Z_OK;
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() {
    if (ready_) inflateEnd(&stream_);
  }

  bool ready() const { return ready_; }
  // Whether the stream has ended, with the last byte of the input.
  bool is_whole() const { return ended_ && packed_.empty() && stream_.avail_in == 0; }
  bool ended() const { return ended_; }

  // Writes bytes to `room` and returns how many; kNoProgress if the input is not of the format, or
  // ends too early.
  static constexpr size_t kNoProgress = std::numeric_limits<size_t>::max();
  size_t read(std::span<std::byte> room) {
    if (stream_.avail_in == 0) feed();
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    const size_t space = std::min(room.size(), kMostOfZlib);
    stream_.avail_out = static_cast<uInt>(space);
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    ended_ = outcome == Z_STREAM_END;
    if (outcome != Z_OK && !ended_) return kNoProgress;
    return space - stream_.avail_out;
  }

 private:
  void feed() {
    const size_t bytes = std::min(packed_.size(), kMostOfZlib);
    stream_.next_in = input_of(packed_.data());
    stream_.avail_in = static_cast<uInt>(bytes);
    packed_ = packed_.subspan(bytes);
  }

  std::span<const std::byte> packed_;  // what zlib has not been given
  z_stream stream_{};
  bool ready_ = false, ended_ = false;
};

// Makes `block` larger, and keeps the first `used` bytes.
bool grow(size_t size, size_t used, size_t aligned_at, const TakeMemory& take, MemoryBlock& block) {
  MemoryBlock larger;
  if (!take(size - block.size()) || !MemoryBlock::allocate(size, aligned_at, larger)) return false;
  if (used > 0) std::memcpy(larger.data(), block.data(), used);
  block = std::move(larger);
  return true;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Whether the parameters of a coding, such as ";q=0", refuse it.
bool is_refused(std::string_view parameters) {
  const size_t weight = parameters.find("q=");
  if (weight == std::string_view::npos) return false;
  return parameters.substr(weight + 2).find_first_of("123456789") == std::string_view::npos;
}

bool add_packed(z_stream& stream, std::span<const std::byte> bytes, int flush) {
  do {
    const size_t some = std::min(bytes.size(), kMostOfZlib);
    stream.next_in = input_of(bytes.data());
    stream.avail_in = static_cast<uInt>(some);
    bytes = bytes.subspan(some);
    const int outcome = deflate(&stream, bytes.empty() ? flush : Z_NO_FLUSH);
    // It may also have written less than it was given, which ends the attempt.
    if (outcome == Z_STREAM_ERROR || stream.avail_in != 0) return false;
    if (bytes.empty() && flush == Z_FINISH) return outcome == Z_STREAM_END;
  } while (!bytes.empty());
  return true;
}

// Packs the parts of the body into `packed`, which bounds the size.
bool pack_parts(const HttpResponse& response, z_stream& stream, std::string& packed) {
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (!add_packed(stream, std::as_bytes(std::span(response.text)), Z_NO_FLUSH)) return false;
  for (const auto& part : response.raw)
    if (!add_packed(stream, part, Z_NO_FLUSH)) return false;
  if (!add_packed(stream, {}, Z_FINISH)) return false;
  packed.resize(packed.size() - stream.avail_out);
  packed.shrink_to_fit();  // it was as large as the body that it replaces
  return true;
}

bool try_pack(HttpResponse& response, Coding coding) {
  const size_t bytes = body_size(response);
  if (bytes < 2 || bytes > kMostOfZlib) return false;
  std::string packed(bytes - 1, '\0');
  Fields fields = response.fields;
  fields.emplace_back("Content-Encoding", coding == Coding::kGzip ? "gzip" : "deflate");
  fields.emplace_back("Vary", "Accept-Encoding");
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_of(coding), 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return false;
  const bool smaller = pack_parts(response, stream, packed);
  deflateEnd(&stream);
  if (!smaller) return false;
  response.text = std::move(packed);
  response.fields = std::move(fields);
  response.raw.clear();
  response.owner.reset();
  response.held_bytes = 0;
  return true;
}

}  // namespace

std::optional<Coding> coding_of(std::string_view name) {
  if (name == "gzip" || name == "x-gzip") return Coding::kGzip;
  if (name == "deflate") return Coding::kDeflate;
  return std::nullopt;
}

std::optional<Coding> accepted_coding(std::string_view field) {
  std::optional<Coding> best;
  while (!field.empty()) {
    const std::string_view item = field.substr(0, field.find(','));
    field.remove_prefix(std::min(item.size() + 1, field.size()));
    const size_t end = std::min(item.find(';'), item.size());
    const auto coding = coding_of(trimmed(item.substr(0, end)));
    if (!coding || is_refused(item.substr(end))) continue;
    if (!best || *coding == Coding::kGzip) best = coding;
  }
  return best;
}

UnpackOutcome unpack(std::span<const std::byte> packed, Coding coding, size_t aligned_at,
                     size_t most, const TakeMemory& take, MemoryBlock& body) {
  Inflation inflation(packed, coding);
  if (!inflation.ready()) return UnpackOutcome::kNoMemory;
  MemoryBlock block;
  size_t used = 0;
  while (!inflation.ended()) {
    if (used == block.size()) {
      // One byte more than is allowed shows that there is more.
      if (used > most) return UnpackOutcome::kTooLarge;
      const size_t size = std::min(most + 1, std::max(kFirstUnpacked, used * kUnpackedGrowth));
      if (!grow(size, used, aligned_at, take, block)) return UnpackOutcome::kNoMemory;
    }
    const size_t bytes = inflation.read(block.bytes().subspan(used));
    if (bytes == Inflation::kNoProgress) return UnpackOutcome::kCorrupt;
    used += bytes;
  }
  if (!inflation.is_whole()) return UnpackOutcome::kCorrupt;
  if (used > most) return UnpackOutcome::kTooLarge;
  block.truncate(used);
  body = std::move(block);
  return UnpackOutcome::kDone;
}

bool pack(HttpResponse& response, Coding coding) noexcept {
  try {
    return try_pack(response, coding);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace millrace::serve
