// Recognises common file formats by their first bytes, so that messages can say what a file is that
// is not an archive. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace millrace::model {

// The number of bytes at the start of a file that are examined.
inline constexpr size_t kForeignPrefix = 1024;

// True if the bytes begin like a NEFF, the container of a compiled Neuron model.
bool looks_like_neff(std::span<const std::byte> bytes) noexcept;
// True if the bytes begin like an ONNX file.
bool looks_like_onnx(std::span<const std::byte> bytes) noexcept;

// Returns a description such as "a PNG picture" or "an ONNX model: compile it first (...)"; for a
// NEFF, with its version and name. Empty if the format is not recognised.
std::string recognise(std::span<const std::byte> bytes);
// Returns a clause that may follow "this is not ...", such as "it seems to be a PNG picture"; for
// an unknown format, it quotes the beginning of the file.
std::string describe_foreign(std::span<const std::byte> bytes);

}  // namespace millrace::model
