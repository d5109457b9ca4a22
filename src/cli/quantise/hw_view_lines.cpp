#include "cli/quantise/hw_view_lines.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "graph/vendor_quantisation.h"

namespace millrace::cli {
namespace {

using graph::Boundary;
using graph::BoundaryQuantisation;
using graph::RequantisationError;

std::string form_text(const BoundaryQuantisation& form) {
  return fmt::format("{}, scale {:.6g}, zero point {}", to_string(form.type), form.parameters.scale,
                     form.parameters.zero_point);
}

std::string error_text(const RequantisationError& error) {
  return fmt::format("at most {:.2f} of that scale, RMS {:.2f}", error.largest,
                     error.root_mean_square);
}

std::string own_view_text(const BoundaryQuantisation& own) {
  const std::string form = fmt::format("the model's own {}", form_text(own));
  if (graph::is_vendor_form(own)) return form;
  return form + ", which programs for the board do not expect";
}

std::string requantised_text(const Boundary& boundary, const BoundaryQuantisation& own,
                             const std::optional<RequantisationError>& measured) {
  const BoundaryQuantisation view{boundary.hw->type, boundary.quant};
  const std::string text = fmt::format(
      "{}, requantised; the model's own is {}; its values change by {}", form_text(view),
      form_text(own), error_text(graph::requantisation_error(own, view)));
  return measured ? fmt::format("{}; on the samples by {}", text, error_text(*measured)) : text;
}

// Describes integers that the model itself declares; they are passed without conversion.
std::string declared_text(const graph::Value& value) {
  const graph::Quantisation& quantisation = *value.quantisation;
  if (quantisation.is_per_axis())
    return fmt::format("{} as the model declares it, with several scales", to_string(value.type));
  return fmt::format(
      "{} as the model declares it, not converted: its integers represent real values with scale "
      "{:.6g} and zero point {}, which programs cannot query",
      to_string(value.type), quantisation.scales[0], quantisation.zero_points[0]);
}

using Measured = std::vector<std::optional<RequantisationError>>;

// Returns the text for one tensor; empty if it is not quantised.
std::string view_text(const graph::Graph& graph, const Boundary& boundary,
                      const std::optional<BoundaryQuantisation>& own,
                      const std::optional<RequantisationError>& measured) {
  if (boundary.requantised) return requantised_text(boundary, *own, measured);
  if (own) return own_view_text(*own);
  const graph::Value& value = graph.values[boundary.value];
  return value.quantisation ? declared_text(value) : "";
}

void add_side(std::vector<std::string>& lines, const graph::CompiledModel& model, const char* side,
              const std::vector<Boundary>& boundaries, const Measured* measured) {
  const auto own = graph::boundary_quantisations(model.graph);
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    if (!boundary.hw) continue;
    const std::string view = view_text(model.graph, boundary, own[boundary.value],
                                       measured != nullptr ? (*measured)[i] : std::nullopt);
    if (!view.empty())
      lines.push_back(fmt::format("HW view of {} \"{}\": {}", side, boundary.cpu.name, view));
  }
}

std::string agreement_text(const quantise::OutputAgreement& agreement) {
  std::string text = fmt::format(
      "outputs through HW views against CPU views: mean cosine {:.5f}, worst sample {:.5f}",
      agreement.mean_cosine, agreement.worst_cosine);
  if (agreement.same_top1)
    text += fmt::format(", top-1 the same for {} of {} samples", *agreement.same_top1,
                        agreement.samples);
  return text;
}

}  // namespace

std::vector<std::string> hw_view_lines(const graph::CompiledModel& model,
                                       const quantise::HwViewCost* cost) {
  std::vector<std::string> lines;
  add_side(lines, model, "input", model.inputs, cost == nullptr ? nullptr : &cost->inputs);
  add_side(lines, model, "output", model.outputs, cost == nullptr ? nullptr : &cost->outputs);
  if (cost != nullptr) lines.push_back(agreement_text(cost->agreement));
  return lines;
}

}  // namespace millrace::cli
