#include "cli/golden/golden_report.h"
#include "cli/print_escaped.h"
#include "cli/report/json_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* text_of(device::View view) {
  return view == device::View::kHw ? "hw" : "cpu";
}

size_t count_different(const std::vector<ComparedFile>& files) {
  return static_cast<size_t>(std::ranges::count_if(
      files, [](const ComparedFile& file) { return file.comparison.first.has_value(); }));
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
               {"cosine", comparison.cosine}};
  if (comparison.first)
    json["first_difference"] = {{"frame", comparison.first->frame},
                                {"index", comparison.first->index},
                                {"coordinates", comparison.first->coordinates},
                                {"ours", comparison.first->ours},
                                {"theirs", comparison.first->theirs}};
  return json;
}

}  // namespace

void print_golden_text(const std::vector<ComparedFile>& files, double tolerance_steps) {
  for (const ComparedFile& compared : files) {
    const Comparison& comparison = compared.comparison;
    print_escaped("{}\n  {} ({} view), {} of {} frames\n", compared.file.path, compared.tensor,
                  text_of(compared.file.view), comparison.frames, compared.file.frames);
    print_escaped("  difference in steps of {:.6g}: max {:.6g} mean {:.6g}; cosine {:.9f}\n",
                  comparison.step, comparison.max_steps, comparison.mean_steps, comparison.cosine);
    if (comparison.first)
      print_escaped("  first difference: frame {} element {} [{}]: ours {:.9g}, theirs {:.9g}\n",
                    comparison.first->frame, comparison.first->index,
                    fmt::join(comparison.first->coordinates, ","), comparison.first->ours,
                    comparison.first->theirs);
  }
  const size_t different = count_different(files);
  if (different == 0)
    print_escaped("equal within {:.6g} steps\n", tolerance_steps);
  else
    print_escaped("{} of {} files differ by more than {:.6g} steps\n", different, files.size(),
                  tolerance_steps);
}

void print_golden_json(const std::vector<ComparedFile>& files, double tolerance_steps) {
  Json json = {{"tolerance_steps", tolerance_steps}, {"equal", count_different(files) == 0}};
  json["files"] = Json::array();
  for (const ComparedFile& compared : files) json["files"].push_back(describe(compared));
  print_escaped_lines(json_lines(json));
}

}  // namespace millrace::cli
