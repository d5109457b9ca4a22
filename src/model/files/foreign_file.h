// Guesses, for messages, what a file is that is not an archive.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace millrace::model {

// How many bytes from the start of a file are examined.
inline constexpr size_t kForeignPrefix = 1024;

// Whether they begin as the container of a Neuron model does.
bool looks_like_neff(std::span<const std::byte> bytes) noexcept;
// Whether they begin as an ONNX file does.
bool looks_like_onnx(std::span<const std::byte> bytes) noexcept;

// "a PNG picture", "an ONNX model: compile it first (...)"; a NEFF with its version and name.
// Empty where the content is not recognised.
std::string recognise(std::span<const std::byte> bytes);
// The same as the continuation of "this is not ...": "it seems to be a PNG picture", or, where it
// is not recognised, how the file begins.
std::string describe_foreign(std::span<const std::byte> bytes);

}  // namespace millrace::model
