#include "cli/detections/detections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

#include "cli/detections/box_format.h"
#include "vision/postprocess/suppression.h"

namespace millrace::cli {
namespace {

// Boxes of one class that overlap by more are taken for the same object.
constexpr float kMostOverlap = 0.45F;

struct KnownFormat {
  const char* shapes;  // as the message of a refusal lists them
  DecodeBoxes decode;
  bool suppressed;  // whether the network itself has dropped overlapping boxes
};

// Formats that names identify come first, then those with the most conditions.
constexpr std::array kKnownFormats = {
    KnownFormat{"cls_8, obj_8, bbox_8 and so on of YuNet", decode_yunet, false},
    KnownFormat{"rows that the output's name describes", decode_named_rows, true},
    KnownFormat{"boxes [N,4], scores [N] and classes [N] after NMS", decode_kept_lists, true},
    KnownFormat{"rows [N,5], [N,6] or [N,7] after NMS", decode_kept_rows, true},
    KnownFormat{"scores [1,N,C] and corners [1,N,4]", decode_scores_and_corners, false},
    KnownFormat{"[1,4+C,N] of YOLOv8", decode_columns, false},
    KnownFormat{"[1,4+C+M,N] of YOLOv8 with masks [1,M,H,W]", decode_masked_columns, false},
    KnownFormat{"[1,5+3K,N] of YOLOv8 with K key points", decode_poses, false},
    KnownFormat{"[1,N,5+C] of YOLOv5", decode_rows, false},
    KnownFormat{"[1,5+C,H,W] of FastestDet", decode_fastestdet, false}};

Status no_known_format(DetectorOutputs outputs) {
  std::vector<std::string> given, known;
  for (const DetectorOutput& output : outputs)
    given.push_back(fmt::format("'{}' [{}]", output.desc.name, fmt::join(output.desc.shape, ",")));
  for (const KnownFormat& format : kKnownFormats) known.emplace_back(format.shapes);
  return unsupported(fmt::format(
      "the outputs {} are in no format of boxes or segments that is known. Known are {}; "
      "[1,C,H,W], [1,H,W,C] and [1,H,W] of segmentation, which cover the input",
      fmt::join(given, ", "), fmt::join(known, "; ")));
}

bool has_valid_box(const vision::Detection& found) {
  return vision::is_valid(found.box);
}

}  // namespace

Result<std::vector<vision::Detection>> detections_in(std::span<const DetectorOutput> outputs,
                                                     const InputSize& input, float least_score) {
  if (outputs.empty()) return no_known_format(outputs);
  for (const KnownFormat& format : kKnownFormats) {
    std::optional<Detections> found = format.decode(outputs, input, least_score);
    if (!found || !std::ranges::all_of(*found, has_valid_box)) continue;
    return format.suppressed ? vision::best_candidates(*std::move(found))
                             : vision::suppress_by_class(*std::move(found), kMostOverlap);
  }
  return no_known_format(outputs);
}

}  // namespace millrace::cli
