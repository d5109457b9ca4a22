#include "cli/golden/golden_report.h"
#include "cli/print_escaped.h"
#include "cli/report/json_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* text_of(device::View view) {
  return view == device::View::kHw ? "hw" : "cpu";
}

size_t count_different(const std::vector<ComparedFile>& files) {
  return static_cast<size_t>(std::ranges::count_if(
      files, [](const ComparedFile& file) { return !file.comparison.within; }));
}

Json describe(const ComparedFile& compared) {
  const Comparison& comparison = compared.comparison;
  Json json = {{"file", compared.file.path},
               {"tensor", compared.tensor},
               {"view", text_of(compared.file.view)},
               {"frames", comparison.frames},
               {"frames_in_file", compared.file.frames},
               {"step", comparison.step},
               {"max_steps", comparison.max_steps},
               {"mean_steps", comparison.mean_steps},
               {"max_absolute", comparison.max_absolute},
               {"max_relative", comparison.max_relative},
               {"cosine", comparison.cosine},
               {"equal", comparison.within}};
  if (comparison.first)
    json["first_difference"] = {{"frame", comparison.first->frame},
                                {"index", comparison.first->index},
                                {"coordinates", comparison.first->coordinates},
                                {"ours", comparison.first->ours},
                                {"theirs", comparison.first->theirs}};
  return json;
}

Json given_of(const Tolerances& tolerances) {
  Json json = Json::object();
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  add("steps", tolerances.steps);
  add("rtol", tolerances.relative);
  add("atol", tolerances.absolute);
  add("cosine", tolerances.cosine);
  return json;
}

}  // namespace

std::string figures_of(const Comparison& comparison) {
  return fmt::format(
      "  difference in steps of {:.6g}: max {:.6g} mean {:.6g}; cosine {:.9f}\n"
      "  greatest difference: absolute {:.6g}, relative {:.6g}\n",
      comparison.step, comparison.max_steps, comparison.mean_steps, comparison.cosine,
      comparison.max_absolute, comparison.max_relative);
}

std::string first_difference_of(const Comparison& comparison) {
  if (!comparison.first) return "";
  return fmt::format("  first difference: frame {} element {} [{}]: ours {:.9g}, theirs {:.9g}\n",
                     comparison.first->frame, comparison.first->index,
                     fmt::join(comparison.first->coordinates, ","), comparison.first->ours,
                     comparison.first->theirs);
}

void print_golden_text(const std::vector<ComparedFile>& files, const Tolerances& tolerances) {
  for (const ComparedFile& compared : files) {
    const Comparison& comparison = compared.comparison;
    print_escaped("{}\n  {} ({} view), {} of {} frames\n", compared.file.path, compared.tensor,
                  text_of(compared.file.view), comparison.frames, compared.file.frames);
    print_escaped_lines(figures_of(comparison) + first_difference_of(comparison));
  }
  const size_t different = count_different(files);
  const std::string within = describe(tolerances);
  if (different == 0)
    print_escaped("equal within {}\n", within);
  else
    print_escaped("{} of {} files are not equal within {}\n", different, files.size(), within);
}

void print_golden_json(const std::vector<ComparedFile>& files, const Tolerances& tolerances) {
  Json json = {{"tolerances", given_of(tolerances)}, {"equal", count_different(files) == 0}};
  json["files"] = Json::array();
  for (const ComparedFile& compared : files) json["files"].push_back(describe(compared));
  print_escaped_lines(json_lines(json));
}

}  // namespace millrace::cli
