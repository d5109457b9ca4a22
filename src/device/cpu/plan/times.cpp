// Candidates of a convolution, and their times out of a record or from a Stopwatch. Each oneDNN
// kernel is asked for in each layout; a candidate with the layouts and the kernel of an earlier one
// is dropped. The device's own kernels follow.
#include "device/cpu/plan/times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/separable/separable.h"

namespace millrace::device::cpu::plan {
namespace {

using kernels::Convolution;

const char* name_of(ElementType type) {
  return type == ElementType::bf16 ? "bf16" : "f32";
}

std::string shape(const Dims& dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

// Returns everything that the time of a convolution depends on.
std::string key_of(const Convolution& convolution) {
  const graph::Conv& op = *convolution.op;
  return fmt::format(
      "{} {} by {} to {} strides {} pads {} {} dilations {}{}{}{} {}", name_of(convolution.type),
      shape(convolution.x), shape(convolution.weight), shape(convolution.y), shape(op.strides),
      shape(op.pads_begin), shape(op.pads_end), shape(op.dilations),
      convolution.bias.empty() ? "" : " bias", convolution.has_residual ? " residual" : "",
      convolution.has_slope ? " slope" : "", graph::name_of(op.activation.kind));
}

std::string key_of(const Convolution& pointwise, const Convolution& depthwise) {
  return fmt::format("{}{}{}", key_of(pointwise), kBetweenPair, key_of(depthwise));
}

std::string key_of(const Dims& dims, ElementType type, const std::string& from,
                   const std::string& to) {
  return fmt::format("{} {} {} {}", name_of(type), shape(dims), from, to);
}

bool is_alike(const Candidate& a, const Candidate& b) {
  return a.source == b.source && a.result == b.result && a.kernel == b.kernel;
}

}  // namespace

std::string layout_name(const Desc& desc) {
  const std::string name = to_string(desc);
  return name.substr(name.find(':') + 1);
}

const LaneTimes* RecordedTimes::of(uint32_t lanes) const {
  const auto found = record_.lanes.find(lanes);
  return found == record_.lanes.end() ? nullptr : &found->second;
}

void RecordedTimes::note_missing(std::string_view what, uint32_t lanes) {
  if (!missing_.empty()) return;
  missing_ = of(lanes) == nullptr
                 ? fmt::format("operators run by {} lane{}", lanes, lanes == 1 ? "" : "s")
                 : fmt::format("{}, run by {} lane{}", what, lanes, lanes == 1 ? "" : "s");
}

const std::vector<Candidate>* RecordedTimes::find(const std::string& key, uint32_t lanes) {
  if (const LaneTimes* const times = of(lanes))
    if (const auto found = times->convolutions.find(key); found != times->convolutions.end())
      return &found->second;
  note_missing(key, lanes);
  return nullptr;
}

std::optional<std::vector<Candidate>> RecordedTimes::candidates(const Convolution& convolution,
                                                                uint32_t lanes) {
  const std::vector<Candidate>* const found = find(key_of(convolution), lanes);
  if (found == nullptr) return std::nullopt;
  std::vector<Candidate> alone = *found;
  std::erase_if(alone, [](const Candidate& each) { return each.form == Form::kSeparable; });
  return alone;
}

std::optional<Candidate> RecordedTimes::pair(const Convolution& pointwise,
                                             const Convolution& depthwise, uint32_t lanes) {
  const std::string key = key_of(pointwise, depthwise);
  const std::vector<Candidate>* const found = find(key, lanes);
  if (found == nullptr) return std::nullopt;
  const auto step = std::ranges::find(*found, Form::kSeparable, &Candidate::form);
  if (step != found->end()) return *step;
  note_missing(key, lanes);
  return std::nullopt;
}

std::optional<uint64_t> RecordedTimes::move(const Dims& dims, ElementType type,
                                            const std::string& from, const std::string& to,
                                            uint32_t lanes) {
  const std::string key = key_of(dims, type, from, to);
  if (const LaneTimes* const times = of(lanes))
    if (const auto found = times->moves.find(key); found != times->moves.end())
      return found->second;
  note_missing("a reorder " + key, lanes);
  return std::nullopt;
}

// Adds oneDNN's kernel, unless it is a reference implementation or the same as an earlier
// candidate.
void MeasuredTimes::add_primitive(const Convolution& convolution, Form form,
                                  std::vector<Untimed>& found) {
  const kernels::FusedFunctions fused{convolution.has_slope,
                                      kernels::can_fuse_activation(*convolution.op)};
  const PrimitiveDesc primitive = make_convolution(convolution, form, fused, engine_);
  if (primitive.get(true) == nullptr || is_reference(primitive.impl_info_str())) return;
  const Desc source = primitive.src_desc(), result = primitive.dst_desc();
  const Candidate candidate{form, layout_name(source), layout_name(result),
                            primitive.impl_info_str(), 0};
  layouts_.emplace(candidate.source, source);
  layouts_.emplace(candidate.result, result);
  const bool known = std::ranges::any_of(
      found, [&](const Untimed& each) { return is_alike(each.candidate, candidate); });
  if (!known) found.push_back({candidate, primitive});
}

void MeasuredTimes::add_kernel(const Convolution& convolution, const kernels::PlannedKernel& kernel,
                               std::vector<Untimed>& found) {
  const Desc image = kernel.image_layout(convolution.x, convolution.type);
  const std::string layout = layout_name(image);
  layouts_.emplace(layout, image);
  found.push_back({{kernel.form, layout, layout, kernel.name, 0}, &kernel});
}

std::vector<MeasuredTimes::Untimed> MeasuredTimes::enumerate(const Convolution& convolution) {
  std::vector<const kernels::PlannedKernel*> own;
  for (const kernels::Implementation& each : kernels::convolution_implementations())
    if (each.planned && each.planned->can_compute(convolution)) own.push_back(&*each.planned);
  // A kernel of our own with channels innermost replaces oneDNN's with channels innermost, and the
  // one in the layout that oneDNN prefers.
  const bool is_replaced = std::ranges::any_of(
      own, [](const kernels::PlannedKernel* each) { return is_innermost(each->form); });
  std::vector<Untimed> found;
  for (const Form form : {Form::kBlocked, Form::kChannelsLast, Form::kLibrary}) {
    if (is_replaced && is_innermost(form)) continue;
    try {
      add_primitive(convolution, form, found);
    } catch (const dnnl::error& error) {
      if (error.status == dnnl_out_of_memory) throw;
    }
  }
  for (const kernels::PlannedKernel* each : own) add_kernel(convolution, *each, found);
  return found;
}

uint64_t MeasuredTimes::time(const Convolution& convolution, const Untimed& untimed) {
  if (const auto* own = std::get_if<const kernels::PlannedKernel*>(&untimed.kernel))
    return (*own)->time(convolution, stopwatch_);
  const auto& primitive = std::get<PrimitiveDesc>(untimed.kernel);
  std::vector<Stopwatch::Operand> operands = {
      {DNNL_ARG_SRC, primitive.src_desc()},
      {DNNL_ARG_WEIGHTS, primitive.weights_desc()},
      {DNNL_ARG_DST, primitive.dst_desc()},
      {DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc()},
  };
  if (!convolution.bias.empty()) operands.push_back({DNNL_ARG_BIAS, primitive.bias_desc()});
  if (convolution.has_slope)
    operands.push_back({prelu_argument(convolution), slope_desc(convolution)});
  const dnnl::convolution_forward made(primitive);
  crew_.run_as(primitive.impl_info_str());
  return stopwatch_.time(made, operands);
}

uint64_t MeasuredTimes::time_reorder(const Desc& from, const Desc& to) const {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc primitive(engine_, from, engine_, to, attributes);
  const Stopwatch::Operand operands[] = {
      {DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc()}};
  return stopwatch_.time(dnnl::reorder(primitive), operands);
}

std::optional<std::vector<Candidate>> MeasuredTimes::candidates(const Convolution& convolution,
                                                                uint32_t lanes) {
  crew_.set(lanes);
  auto found = enumerate(convolution);  // before the lookup: it fills layouts_, too
  const std::string key = key_of(convolution);
  LaneTimes& times = record_.lanes[lanes];
  const auto known = times.convolutions.find(key);
  if (known != times.convolutions.end()) return known->second;
  std::vector<Candidate> measured;
  for (const Untimed& each : found) {
    crew_.set(lanes);  // time() may have changed it
    measured.push_back(each.candidate);
    measured.back().nanoseconds = time(convolution, each);
  }
  times.convolutions.emplace(key, measured);
  return measured;
}

std::optional<Candidate> MeasuredTimes::pair(const Convolution& pointwise,
                                             const Convolution& depthwise, uint32_t lanes) {
  const std::string key = key_of(pointwise, depthwise);
  LaneTimes& times = record_.lanes[lanes];
  const auto known = times.convolutions.find(key);
  if (known != times.convolutions.end() && !known->second.empty()) return known->second.front();
  crew_.set(lanes);
  const Desc image = kernels::separable::image_layout(pointwise, depthwise);
  const std::string layout = layout_name(image);
  layouts_.emplace(layout, image);
  const Candidate candidate{Form::kSeparable, layout, layout, kernels::separable::kName,
                            kernels::separable::time(pointwise, depthwise, stopwatch_)};
  times.convolutions[key] = {candidate};
  return candidate;
}

std::optional<Desc> MeasuredTimes::desc_of(const std::string& layout, const Dims& dims,
                                           ElementType type) const {
  const Desc plain = plain_desc(dims, type);
  if (layout == layout_name(plain)) return plain;
  const auto found = layouts_.find(layout);
  if (found == layouts_.end() || found->second.dims().size() != dims.size()) return std::nullopt;
  return dense_like(with_type(found->second, type), dims);
}

std::optional<uint64_t> MeasuredTimes::move(const Dims& dims, ElementType type,
                                            const std::string& from, const std::string& to,
                                            uint32_t lanes) {
  const std::string key = key_of(dims, type, from, to);
  LaneTimes& times = record_.lanes[lanes];
  const auto known = times.moves.find(key);
  if (known != times.moves.end()) return known->second;
  const std::optional<Desc> before = desc_of(from, dims, type), after = desc_of(to, dims, type);
  if (!before || !after) return std::nullopt;
  crew_.set(lanes);
  const uint64_t nanoseconds = time_reorder(*before, *after);
  times.moves.emplace(key, nanoseconds);
  return nanoseconds;
}

}  // namespace millrace::device::cpu::plan
