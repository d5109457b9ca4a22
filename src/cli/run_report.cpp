#include "cli/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/evaluate/scores.h"
#include "cli/print_escaped.h"
#include "cli/report/json_text.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<RankedClass> highest(const std::vector<float>& values,
                                 const std::vector<std::string>& labels, size_t top) {
  std::vector<size_t> ranking(values.size());
  std::iota(ranking.begin(), ranking.end(), size_t{0});
  const size_t count = std::min(top, ranking.size());
  std::partial_sort(ranking.begin(), ranking.begin() + static_cast<ptrdiff_t>(count), ranking.end(),
                    [&](size_t a, size_t b) { return quantise::ranks_before(values, a, b); });
  std::vector<RankedClass> classes;
  for (size_t i = 0; i < count; ++i)
    classes.push_back(
        {ranking[i], values[ranking[i]], ranking[i] < labels.size() ? labels[ranking[i]] : ""});
  return classes;
}

void print_output(const OutputSummary& output) {
  const tensor::TensorDesc& desc = output.desc;
  print_escaped("{}  {} {} [{}]  ", desc.name, to_string(desc.type), to_string(desc.layout),
                fmt::join(desc.shape, ","));
  if (output.empty)
    print_escaped("empty\n");
  else
    print_escaped("min {:.6g} max {:.6g} mean {:.6g}\n", output.min, output.max, output.mean);
  for (size_t i = 0; i < output.top.size(); ++i)
    print_escaped("  {}. {} {:.6g}{}{}\n", i + 1, output.top[i].index, output.top[i].value,
                  output.top[i].label.empty() ? "" : "  ", output.top[i].label);
}

Json describe_output(const OutputSummary& output) {
  Json json = {{"name", output.desc.name},
               {"type", to_string(output.desc.type)},
               {"layout", to_string(output.desc.layout)},
               {"shape", output.desc.shape}};
  if (!output.empty) {
    json["min"] = output.min;
    json["max"] = output.max;
    json["mean"] = output.mean;
  }
  for (const RankedClass& ranked : output.top) {
    Json entry = {{"class", ranked.index}, {"value", ranked.value}};
    if (!ranked.label.empty()) entry["label"] = ranked.label;
    json["top"].push_back(std::move(entry));
  }
  return json;
}

uint64_t pixels_of(const std::vector<PixelRun>& mask) {
  uint64_t pixels = 0;
  for (const PixelRun& run : mask) pixels += run.right - run.left;
  return pixels;
}

void print_detections(const std::vector<PhotoDetection>& detections) {
  print_escaped("{} detection{}\n", detections.size(), detections.size() == 1 ? "" : "s");
  for (size_t i = 0; i < detections.size(); ++i) {
    const PhotoDetection& found = detections[i];
    print_escaped("  {}. {} {:.6g}{}{}  x {:.0f} to {:.0f}, y {:.0f} to {:.0f}\n", i + 1,
                  found.object_class, found.score, found.label.empty() ? "" : "  ", found.label,
                  found.left, found.right, found.top, found.bottom);
    if (!found.mask.empty()) print_escaped("     mask of {} pixels\n", pixels_of(found.mask));
    if (found.key_points.empty()) continue;
    print_escaped("     key points");
    for (const auto& [x, y] : found.key_points) print_escaped(" ({:.0f},{:.0f})", x, y);
    print_escaped("\n");
  }
}

void print_segments(const std::vector<PhotoSegment>& segments) {
  print_escaped("{} class{}\n", segments.size(), segments.size() == 1 ? "" : "es");
  for (const PhotoSegment& segment : segments)
    print_escaped("  {}{}{}  {:.1f} % of the photo\n", segment.object_class,
                  segment.label.empty() ? "" : "  ", segment.label, 100 * segment.share);
}

Json describe_segments(const std::vector<PhotoSegment>& segments) {
  Json list = Json::array();
  for (const PhotoSegment& segment : segments) {
    Json entry = {{"class", segment.object_class}, {"share", segment.share}};
    if (!segment.label.empty()) entry["label"] = segment.label;
    list.push_back(std::move(entry));
  }
  return list;
}

Json describe_detections(const std::vector<PhotoDetection>& detections) {
  Json list = Json::array();
  for (const PhotoDetection& found : detections) {
    Json entry = {{"class", found.object_class}, {"score", found.score}};
    if (!found.label.empty()) entry["label"] = found.label;
    entry["left"] = found.left;
    entry["top"] = found.top;
    entry["right"] = found.right;
    entry["bottom"] = found.bottom;
    if (!found.mask.empty()) entry["mask_pixels"] = pixels_of(found.mask);
    for (const auto& [x, y] : found.key_points) entry["key_points"].push_back(Json::array({x, y}));
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

OutputSummary summary_of(const tensor::TensorDesc& desc, const std::vector<float>& values,
                         const std::vector<std::string>& labels, size_t top) {
  OutputSummary summary;
  summary.desc = desc;
  summary.empty = values.empty();
  if (values.empty()) return summary;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  summary.min = *low;
  summary.max = *high;
  summary.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  summary.top = highest(values, labels, top);
  return summary;
}

void print_run_text(const std::vector<FrameReport>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames.size() > 1) print_escaped("frame {}  {}\n", i, frames[i].source);
    for (const OutputSummary& output : frames[i].outputs) print_output(output);
    if (frames[i].detections) print_detections(*frames[i].detections);
    if (frames[i].segments) print_segments(*frames[i].segments);
  }
}

void print_run_json(const std::vector<FrameReport>& frames) {
  Json json = {{"frames", Json::array()}};
  for (const FrameReport& frame : frames) {
    Json outputs = Json::array();
    for (const OutputSummary& output : frame.outputs) outputs.push_back(describe_output(output));
    json["frames"].push_back({{"source", frame.source}, {"outputs", std::move(outputs)}});
    if (frame.detections)
      json["frames"].back()["detections"] = describe_detections(*frame.detections);
    if (frame.segments) json["frames"].back()["segments"] = describe_segments(*frame.segments);
  }
  print_escaped_lines(json_lines(std::move(json)));
}

}  // namespace millrace::cli
