// How loops on bytes, those of this folder and of amx, divide channels, and what they make of sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::device::cpu::kernels::quantised::vnni {

// The channels of a vector of bytes, whose sums fill four vectors, and of one vector of sums.
inline constexpr size_t kWide = 64, kNarrow = 16;

// Channels that are computed together, kWide or kNarrow of them.
struct Group {
  size_t first, size;

  // The channel whose sum is the `number`-th. Those of a wide group lie as interleaving leaves
  // them, and packing puts them right.
  size_t channel(size_t number) const;
};

// The group that the channel `at` begins; the last one ends with the last channel, so that it may
// begin within the one before. Requirement: at least kNarrow channels.
constexpr Group group_at(size_t channels, size_t at) {
  const size_t left = channels - at, size = left >= kWide ? kWide : kNarrow;
  return {left >= size ? at : channels - size, size};
}

// Returns all groups, in order.
std::vector<Group> groups_of(size_t channels);

// The scaling of the sums of products of each channel: (sum + bias) * factor. The entries are by
// channel, or in the order in which a loop reads them.
struct Scaling {
  std::vector<int32_t> starts;  // what the sums start from
  std::vector<float> biases;
  std::vector<float> factors;
};
// Converts the order of channels to that of the groups.
Scaling arranged(const Scaling& scaling);

// Images in planes have the channels of a narrow group innermost, and one plane for each of these
// behind the other. So a vector of bytes has four pixels of a plane, and as a wide group the four
// times 16 numbers of it have this channel of the plane.
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
  int16_t zero_point;   // is added to the rounded number,
  uint8_t least, most;  // and the sum is kept between these

  // Whether all that is to be done is to keep numbers within UINT8.
  bool only_saturates() const { return !to_signed && zero_point == 0 && least == 0 && most == 255; }
};

// How a layer reads the bytes of its image, and what it makes of the sums.
struct Encoding {
  bool signed_image;  // INT8 instead of UINT8
  Requantisation requantisation;
  bool adds_biases;  // false: all are 0, as where they are part of the starts
};

// The sum of the result of a convolution, rounded as `Encoding` says, and of another operand.
struct Addition {
  float step;                     // of the convolution's result, in those of the sum
  float residual_step;            // of the other operand, likewise
  bool signed_residual;           // INT8 instead of UINT8
  int16_t residual_zero_point;    // of UINT8; with 128 added where it is signed
  Requantisation requantisation;  // of the sum
};

}  // namespace millrace::device::cpu::kernels::quantised::vnni
