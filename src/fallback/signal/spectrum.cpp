// DFT and STFT: spectra of real or complex signals, whose last dimension has size 1 or 2 (real and
// imaginary part). Transforms are computed in double (fourier.h).
#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/signal/fourier.h"

namespace millrace::fallback {
namespace {

using Complex = std::complex<double>;

// The longest transform. A model may state any length, and a longer transform would take far more
// memory than the signal.
constexpr int64_t kMaxLength = int64_t{1} << 24;

Status check_signal(const TensorView& x, size_t least_rank) {
  if (x.rank() >= least_rank && (x.dims.back() == 1 || x.dims.back() == 2)) return {};
  return invalid_argument(fmt::format(
      "the last dimension of its input {} must be 1, for a real signal, or 2, for a complex one",
      graph::to_string(to_dims(x.dims))));
}

int64_t bins_of(int64_t length, bool onesided) {
  return onesided ? length / 2 + 1 : length;
}

// The axis is an operand from operator set 20 on, and was an attribute before.
Result<size_t> dft_axis(const NodeView& node) {
  const size_t rank = node.in(0).rank();
  const int64_t stated = node.has(2) ? integers_of(node.in(2))[0] : node.integer("axis", -2);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, graph::normalise_axis(stated, rank));
  if (axis + 1 == rank)
    return invalid_argument("the axis is the dimension of real and imaginary parts");
  return axis;
}

Status shape_of_dft(Inference& node) {
  const TensorView& x = node.in(0);
  MILLRACE_RETURN_IF_ERROR(check_signal(x, 2));
  if (node.has(2)) MILLRACE_RETURN_IF_ERROR(node.known_integer(2).status());
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, dft_axis(node));
  Dims dims = to_dims(x.dims);
  if (node.has(1)) {
    MILLRACE_ASSIGN_OR_RETURN(dims[axis], node.known_integer(1));
  }
  if (dims[axis] < 1 || dims[axis] > kMaxLength)
    return invalid_argument(fmt::format("a transform of length {} is not supported", dims[axis]));
  const bool onesided = node.integer("onesided") != 0;
  if (onesided && x.dims.back() == 2) return invalid_argument("onesided requires a real signal");
  dims[axis] = bins_of(dims[axis], onesided);
  dims.back() = 2;
  node.set(0, x.type, std::move(dims));
  return {};
}

// Returns an element of the signal; its imaginary part is 0 for a real signal.
template <class T>
Complex complex_at(std::span<const T> signal, size_t parts, size_t element) {
  return {static_cast<double>(signal[element * parts]),
          parts == 2 ? static_cast<double>(signal[element * parts + 1]) : 0};
}

template <class T>
void store_complex(std::span<T> to, size_t element, const Complex& value) {
  to[2 * element] = static_cast<T>(value.real());
  to[2 * element + 1] = static_cast<T>(value.imag());
}

// Signals are truncated, or padded with zeros, to the length of the transform.
Status dft(const Call& call) {
  const TensorView& x = call.in(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, dft_axis(call));
  const auto parts = static_cast<size_t>(x.dims.back());
  const AxisSplit from(x.dims.first(x.rank() - 1), axis);
  const AxisSplit to(call.out(0).dims.first(x.rank() - 1), axis);
  const size_t length = call.has(1) ? static_cast<size_t>(integers_of(call.in(1))[0]) : from.size;
  FourierTransform transform(length, call.integer("inverse") != 0);
  std::vector<Complex> line(length);
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t number = 0; number < from.lines(); ++number) {
      for (size_t i = 0; i < length; ++i)
        line[i] = i < from.size ? complex_at(x.as<T>(), parts, from.start(number) + i * from.inner)
                                : Complex{};
      transform.run(line);
      for (size_t i = 0; i < to.size; ++i)
        store_complex(call.out(0).as<T>(), to.start(number) + i * to.inner, line[i]);
    }
    return {};
  });
}

constexpr size_t kSignal = 0, kStep = 1, kWindow = 2, kLength = 3;

struct Frames {
  size_t step = 1, length = 1;
};

Result<Frames> frames_of(const NodeView& node) {
  const int64_t step = integers_of(node.in(kStep))[0];
  const bool windowed = node.has(kWindow);
  if (!windowed && !node.has(kLength))
    return invalid_argument("it has neither a window nor a frame_length");
  const int64_t length =
      node.has(kLength) ? integers_of(node.in(kLength))[0] : node.in(kWindow).dims[0];
  if (windowed && length != node.in(kWindow).dims[0])
    return invalid_argument("the length of the window must be frame_length");
  if (step < 1 || length < 1 || length > node.in(kSignal).dims[1])
    return invalid_argument(
        fmt::format("frames of {} elements, {} apart, do not fit a signal "
                    "of {}",
                    length, step, node.in(kSignal).dims[1]));
  return Frames{static_cast<size_t>(step), static_cast<size_t>(length)};
}

Status shape_of_stft(Inference& node) {
  const TensorView& x = node.in(kSignal);
  if (x.rank() == 3) MILLRACE_RETURN_IF_ERROR(check_signal(x, 3));
  if (x.rank() != 2 && x.rank() != 3)
    return invalid_argument("its input must be [batch, length, 1 or 2]");
  MILLRACE_RETURN_IF_ERROR(node.known_integer(kStep).status());
  if (node.has(kLength)) MILLRACE_RETURN_IF_ERROR(node.known_integer(kLength).status());
  if (node.has(kWindow) && (node.in(kWindow).rank() != 1 || node.in(kWindow).type != x.type))
    return invalid_argument("the window must have rank 1 and the type of the signal");
  MILLRACE_ASSIGN_OR_RETURN(const Frames frames, frames_of(node));
  const auto length = static_cast<int64_t>(frames.length);
  const int64_t count = (x.dims[1] - length) / static_cast<int64_t>(frames.step) + 1;
  const bool onesided = node.integer("onesided", 1) != 0;
  if (onesided && x.rank() == 3 && x.dims[2] == 2)
    return invalid_argument("onesided requires a real signal");
  node.set(0, x.type, {x.dims[0], count, bins_of(length, onesided), 2});
  return {};
}

Status stft(const Call& call) {
  const TensorView& x = call.in(kSignal);
  MILLRACE_ASSIGN_OR_RETURN(const Frames frames, frames_of(call));
  const size_t parts = x.rank() == 3 ? static_cast<size_t>(x.dims[2]) : 1;
  const auto size = static_cast<size_t>(x.dims[1]);
  const auto count = static_cast<size_t>(call.out(0).dims[1]);
  const auto bins = static_cast<size_t>(call.out(0).dims[2]);
  FourierTransform transform(frames.length, false);
  std::vector<Complex> line(frames.length);
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t frame = 0; frame < static_cast<size_t>(x.dims[0]) * count; ++frame) {
      const size_t begin = frame / count * size + frame % count * frames.step;
      for (size_t i = 0; i < frames.length; ++i) {
        line[i] = complex_at(x.as<T>(), parts, begin + i);
        if (call.has(kWindow)) line[i] *= static_cast<double>(call.in(kWindow).as<T>()[i]);
      }
      transform.run(line);
      for (size_t i = 0; i < bins; ++i)
        store_complex(call.out(0).as<T>(), frame * bins + i, line[i]);
    }
    return {};
  });
}

constexpr AttributeSpec kDft[] = {{"axis", AttributeKind::kInteger},
                                  {"inverse", AttributeKind::kInteger},
                                  {"onesided", AttributeKind::kInteger}};
constexpr AttributeSpec kStft[] = {{"onesided", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> spectrum_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"DFT", 17, {1, 3}, {}, kReals, shape_of_dft, dft, kDft},
      {"STFT", 17, {2, 4}, {}, kReals, shape_of_stft, stft, kStft},
  };
  return kOperators;
}

}  // namespace millrace::fallback
