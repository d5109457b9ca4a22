#include "device/cpu/plan/table/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/never_destroyed.h"
#include "base/process/topology.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/winograd/winograd.h"
#include "device/cpu/plan/table/texts.h"

namespace millrace::device::cpu::plan {
namespace {

using kernels::Convolution;

bool are(const Dims& dims, int64_t number) {
  return std::ranges::all_of(dims, [number](int64_t dim) { return dim == number; });
}

// Returns nothing if tables do not tell the convolution from others.
std::optional<Layer> layer_of(const Convolution& convolution) {
  // A first convolution takes pictures as they come, in the one way there is.
  constexpr int64_t kChannelsOfPictures = 4;
  const graph::Conv& op = *convolution.op;
  const Dims &x = convolution.x, &y = convolution.y, &weight = convolution.weight;
  if (x.size() != 4 || x[1] <= kChannelsOfPictures || !are(op.dilations, 1) ||
      !are(op.strides, op.strides[0]) || weight[weight.size() - 2] != weight.back())
    return std::nullopt;
  const bool is_depthwise = op.group == x[1] && op.group == y[1];
  if (op.group != 1 && !is_depthwise) return std::nullopt;
  const auto size = [](int64_t dim) { return static_cast<uint64_t>(dim); };
  return Layer{convolution.type,
               is_depthwise ? LayerKind::kDepthwise : LayerKind::kDense,
               size(weight.back()),
               size(op.strides[0]),
               size(x[1]),
               size(y[1]),
               size(y[2]) * size(y[3]),
               size(x[0])};
}

// The name of the layout in oneDNN's letters, for images of that rank.
std::string layout_name(size_t rank, ImageLayout layout) {
  std::string spatial;
  for (size_t i = 2; i < rank; ++i) spatial += static_cast<char>('a' + i);
  switch (layout) {
    case ImageLayout::kPlain:
      break;
    case ImageLayout::kBlocks:
      return fmt::format("aB{}{}b", spatial, kernels::channel_block());
    case ImageLayout::kInnermost:
      return fmt::format("a{}b", spatial);
  }
  return "ab" + spatial;
}

ImageLayout layout_named(const std::string& name) {
  if (name.find('B') != std::string::npos) return ImageLayout::kBlocks;
  return name.ends_with('b') ? ImageLayout::kInnermost : ImageLayout::kPlain;
}

ImageLayout layout_of(Form form, ElementType type) {
  if (form == Form::kSeparable) form = usual_form(type);
  const bool is_innermost = form == Form::kChannelsLast || form == Form::kLibrary;
  return is_innermost ? ImageLayout::kInnermost : ImageLayout::kBlocks;
}

// oneDNN's choice was not measured if it is the layout with channels innermost.
void name_as_usual(Form usual, std::vector<FormTime>& times) {
  const bool has_library = std::ranges::count(times, Form::kLibrary, &FormTime::form) != 0;
  if (usual != Form::kLibrary)
    std::erase_if(times, [](const FormTime& each) { return each.form == Form::kLibrary; });
  else if (!has_library)
    for (FormTime& each : times)
      if (each.form == Form::kChannelsLast) each.form = Form::kLibrary;
}

Candidate timed(const Convolution& convolution, const FormTime& time) {
  Candidate candidate = untimed(convolution, time.form);
  candidate.nanoseconds = time.nanoseconds;
  candidate.is_timed = true;
  return candidate;
}

template <size_t kNumber>
const Table& parsed() {
  // The shipped tables are valid, which the tests ensure. If one is not, that is logged once.
  static NeverDestroyed<Table> table([] {
    const ShippedTable shipped = shipped_tables()[kNumber];
    Result<Table> made = Table::parse(shipped.text);
    if (made.ok()) return *std::move(made);
    log(LogLevel::kWarning, "cpu",
        fmt::format("the table of kernel times of {}, which is part of the device, is not used: {}",
                    shipped.name, made.status().message()));
    return Table();
  }());
  return table.get();
}

}  // namespace

std::vector<ShippedTable> shipped_tables() {
  return {{"avx2", texts::kAvx2},
          {"avx512", texts::kAvx512},
          {"avx512_bf16", texts::kAvx512Bf16},
          {"amx", texts::kAmx}};
}

std::optional<UsedTable> used_table(ElementType type) {
  const CpuFeatures& features = topology().features;
  if (type == ElementType::f32 && features.avx512) return UsedTable{"avx512", &parsed<1>()};
  if (type == ElementType::f32 && features.avx2) return UsedTable{"avx2", &parsed<0>()};
  if (type == ElementType::bf16 && features.amx_bf16) return UsedTable{"amx", &parsed<3>()};
  if (type == ElementType::bf16 && features.avx512_bf16)
    return UsedTable{"avx512_bf16", &parsed<2>()};
  return std::nullopt;
}

std::optional<std::vector<Candidate>> TableTimes::candidates(const Convolution& convolution,
                                                             uint32_t) {
  const std::optional<Layer> layer = layer_of(convolution);
  std::vector<FormTime> times = layer ? table_.times(*layer) : std::vector<FormTime>();
  if (times.empty()) return std::nullopt;
  name_as_usual(usual_form(convolution.type), times);
  std::vector<Candidate> candidates;
  for (const FormTime& each : times) {
    if (each.form == Form::kWinograd && !kernels::winograd::can_compute(convolution)) continue;
    candidates.push_back(timed(convolution, each));
  }
  return candidates;
}

std::optional<Candidate> TableTimes::pair(const Convolution& pointwise,
                                          const Convolution& depthwise, uint32_t) {
  const std::optional<Layer> first = layer_of(pointwise);
  std::optional<Layer> both = layer_of(depthwise);
  if (!first || !both) return std::nullopt;
  both->kind = LayerKind::kSeparable;
  both->channels_in = first->channels_in;
  const std::vector<FormTime> times = table_.times(*both);
  if (times.empty() || times[0].form != Form::kSeparable) return std::nullopt;
  return timed(pointwise, times[0]);
}

std::optional<uint64_t> TableTimes::move(const Dims& dims, ElementType type,
                                         const std::string& from, const std::string& to, uint32_t) {
  uint64_t elements = 1;
  for (const int64_t dim : dims) elements *= static_cast<uint64_t>(dim);
  return table_.move(type, elements, layout_named(from), layout_named(to));
}

Candidate untimed(const Convolution& convolution, Form form) {
  const std::string layout = layout_name(convolution.x.size(), layout_of(form, convolution.type));
  return {form, layout, layout, {}, 0, false};
}

}  // namespace millrace::device::cpu::plan
