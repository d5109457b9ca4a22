#include "runtime/loading/static_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/settings/environment.h"
#include "base/shell_word.h"
#include "lowering/shape_profile.h"
#include "tensor/tensor_shape.h"

namespace millrace::runtime {
namespace {

constexpr const char* kProfileVariable = "MILLRACE_PROFILE";

std::string describe(const graph::Boundary& tensor) {
  return fmt::format(
      "\"{}\" has the shape {}", tensor.cpu.name,
      tensor.cpu.shape.empty() ? "of any rank" : tensor::to_string(tensor.cpu.shape));
}

Status refusal(const graph::CompiledModel& model) {
  const auto input = std::ranges::find_if(model.inputs, &graph::Boundary::open);
  if (input != model.inputs.end())
    return unsupported(
        fmt::format("input {}, and this API takes static shapes only: compile the model with "
                    "--input-shape {}=... or --profile, or use the native API",
                    describe(*input), shell_word(input->cpu.name)));
  return unsupported(
      "shapes of this model follow from the elements of its tensors, and this API takes static "
      "shapes only: use the native API");
}

// `source` says who asked for the profile.
Result<const graph::ShapeProfile*> find_profile(const graph::CompiledModel& model,
                                                std::string_view name, std::string_view source) {
  const auto found = std::ranges::find(model.profiles, name, &graph::ShapeProfile::name);
  if (found != model.profiles.end()) return &*found;
  std::vector<std::string> names;
  for (const graph::ShapeProfile& profile : model.profiles) names.push_back(profile.name);
  return invalid_argument(
      fmt::format("{} is \"{}\", but the profiles are {}", source, name,
                  names.empty() ? "none" : fmt::to_string(fmt::join(names, ", "))));
}

Result<const graph::ShapeProfile*> chosen_profile(const graph::CompiledModel& model,
                                                  std::string_view name) {
  if (!name.empty()) return find_profile(model, name, "the shape profile that is asked for");
  if (model.profiles.empty()) return refusal(model);
  name = profile_of_environment();
  return name.empty() ? &model.profiles.front() : find_profile(model, name, kProfileVariable);
}

Result<graph::CompiledModel> as_static(const graph::CompiledModel& model,
                                       const graph::Capabilities& capabilities,
                                       std::string_view name) {
  MILLRACE_ASSIGN_OR_RETURN(const graph::ShapeProfile* profile, chosen_profile(model, name));
  return lowering::lower_profile(model, capabilities, *profile);
}

}  // namespace

std::string_view profile_of_environment() {
  return environment_variable(kProfileVariable);
}

Result<std::shared_ptr<const graph::CompiledModel>> static_model(
    std::shared_ptr<const graph::CompiledModel> model, const graph::Capabilities& capabilities,
    std::string_view profile) {
  if (model->network == nullptr && profile.empty()) return model;
  Result<graph::CompiledModel> made = as_static(*model, capabilities, profile);
  if (!made.ok()) return made.status().with_context(fmt::format("model \"{}\"", model->name));
  return std::make_shared<const graph::CompiledModel>(*std::move(made));
}

}  // namespace millrace::runtime
