// Files that are no archives: what they seem to be, for messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace millrace::model {

// How many of a file's first bytes are looked at.
inline constexpr size_t kForeignPrefix = 1024;

// Whether they begin as the container of a Neuron model does.
bool looks_like_neff(std::span<const std::byte> bytes) noexcept;
// Whether they begin as an ONNX file does.
bool looks_like_onnx(std::span<const std::byte> bytes) noexcept;

// "a PNG picture", "an ONNX model: compile it first (...)"; a NEFF with its version and name.
// Empty where that cannot be told.
std::string recognise(std::span<const std::byte> bytes);
// The same, to follow "this is not ...": "it seems to be a PNG picture", or else, how it begins.
std::string describe_foreign(std::span<const std::byte> bytes);

}  // namespace millrace::model
