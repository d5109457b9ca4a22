// Recognises files by their first bytes. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace::io {

enum class Content {
  kPicture,      // of a format that load_picture() decodes
  kArray,        // a NumPy array (.npy)
  kUnsupported,  // of a known format that nothing here reads
  kOther,        // anything else, such as raw numbers
};

struct Recognised {
  Content content = Content::kOther;
  std::string_view name;  // with kUnsupported: what it is, such as "a GIF picture"
};

// Recognises a file of `size` bytes that begins with `head`, which needs no more than 64 bytes.
Recognised recognise(std::span<const std::byte> head, size_t size);

// Reads the beginning of a regular file and recognises it; kOther if it cannot be read.
Recognised recognise_file(const std::string& path);

// Returns the formats of pictures that are read, for messages: "JPEG, PNG, WebP, BMP, PNM".
std::string_view picture_formats();

}  // namespace millrace::io
