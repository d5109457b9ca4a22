// Content codings of bodies: gzip and deflate, by zlib. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "serve/http/memory_block.h"
#include "serve/http/message.h"

namespace millrace::serve {

enum class Coding : uint8_t { kGzip, kDeflate };

// Returns the coding with that name; nothing for others, such as "identity".
std::optional<Coding> coding_of(std::string_view name);

// Returns the coding that a client prefers, by its field Accept-Encoding; nothing if it takes none.
std::optional<Coding> accepted_coding(std::string_view field);

// Asked before `bytes` more of memory are taken; false refuses them.
using TakeMemory = std::function<bool(size_t bytes)>;

enum class UnpackOutcome : uint8_t {
  kDone,
  kCorrupt,   // the body is not one whole stream of the coding
  kTooLarge,  // there is more than `most`
  kNoMemory,  // there is none, or `take` refuses it
};

// Unpacks a body to at most `most` bytes, of which byte `aligned_at` is aligned. `body` is changed
// if that is done.
UnpackOutcome unpack(std::span<const std::byte> packed, Coding coding, size_t aligned_at,
                     size_t most, const TakeMemory& take, MemoryBlock& body);

// Packs the body of a response, which then no longer refers to its owner. False, with the response
// unchanged, if there is no memory, or if the body would not become smaller.
bool pack(HttpResponse& response, Coding coding) noexcept;

}  // namespace millrace::serve
