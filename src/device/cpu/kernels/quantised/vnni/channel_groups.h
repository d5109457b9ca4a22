// The groups of channels that the loops on bytes, those of this folder and of amx, compute
// together, and the requantisation of sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::device::cpu::kernels::quantised::vnni {

// The number of channels in a vector of bytes, whose sums fill four vectors, and in one vector of
// sums.
inline constexpr size_t kWide = 64, kNarrow = 16;

// Channels that are computed together, kWide or kNarrow of them.
struct Group {
  size_t first, size;

  // Returns the channel whose sum is the `number`-th. The sums of a wide group are in the order
  // that interleaving gives; packing them to bytes restores the order of the channels.
  size_t channel(size_t number) const;
};

// Returns the group that begins with the channel `at`. The last group ends with the last channel,
// so it may overlap the one before. Requirement: at least kNarrow channels.
constexpr Group group_at(size_t channels, size_t at) {
  const size_t left = channels - at, size = left >= kWide ? kWide : kNarrow;
  return {left >= size ? at : channels - size, size};
}

// Returns all groups, in order.
std::vector<Group> groups_of(size_t channels);

// The scaling of the sums of products of each channel: (sum + bias) * factor. The entries are by
// channel, or in the order in which a loop reads them.
struct Scaling {
  std::vector<int32_t> starts;  // the initial values of the sums
  std::vector<float> biases;
  std::vector<float> factors;
};
// Converts the order of channels to that of the groups.
Scaling arranged(const Scaling& scaling);

// An image in planes is [channels / kNarrow, height, width, kNarrow], so that a vector of bytes
// holds four pixels of a plane. Returns the channel in the plane whose sum is the `number`-th, if
// four such vectors are interleaved like those of a wide group.
constexpr size_t channel_in_plane(size_t number) {
  constexpr size_t kFour = 4;
  return number / kNarrow * kFour + number % kFour;
}
// Converts the order of channels, a multiple of kNarrow, to that of such vectors.
Scaling arranged_in_planes(const Scaling& scaling);

// A Scaling as a loop reads it.
struct ScalingView {
  const int32_t* starts;
  const float *biases, *factors;

  void skip(size_t count) {
    starts += count;
    biases += count;
    factors += count;
  }
};

// The conversion of scaled sums to bytes. They are rounded to UINT8; INT8 is computed with 128
// added, which is subtracted in the end.
struct Requantisation {
  bool to_signed;
  int16_t zero_point;   // added to the rounded number
  uint8_t least, most;  // bounds of that sum

  // Whether numbers are only saturated to UINT8.
  bool only_saturates() const { return !to_signed && zero_point == 0 && least == 0 && most == 255; }
};

// The type of the image of a layer, and the requantisation of its sums.
struct Encoding {
  bool signed_image;  // INT8 instead of UINT8
  Requantisation requantisation;
  bool adds_biases;  // false if all are 0, or parts of the starts
};

// The sum of the result of a convolution, rounded as `Encoding` says, and of a residual.
struct Addition {
  float result_scale;             // scale of the convolution's result, divided by that of the sum
  float residual_scale;           // of the residual, likewise
  bool signed_residual;           // INT8 instead of UINT8
  int16_t residual_zero_point;    // as UINT8: with 128 added if it is signed
  Requantisation requantisation;  // of the sum
};

}  // namespace millrace::device::cpu::kernels::quantised::vnni
