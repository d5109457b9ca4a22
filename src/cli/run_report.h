// The report of `millrace run` on the outputs of each frame, as text and as JSON. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/detections/photo_detections.h"
#include "cli/detections/photo_segments.h"
#include "tensor/desc.h"

namespace millrace::cli {

struct RankedClass {
  size_t index = 0;
  float value = 0;
  std::string label;  // empty: none
};

struct OutputSummary {
  tensor::TensorDesc desc;
  bool empty = false;  // without elements, and so without these figures
  float min = 0, max = 0;
  double mean = 0;
  std::vector<RankedClass> top;  // with --top
};

struct FrameReport {
  std::string source;  // the file of the first input
  std::vector<OutputSummary> outputs;
  // With --draw, one of both.
  std::optional<std::vector<PhotoDetection>> detections;
  std::optional<std::vector<PhotoSegment>> segments;
};

// Summarises an output with these values, and ranks its `top` highest ones.
OutputSummary summary_of(const tensor::TensorDesc& desc, const std::vector<float>& values,
                         const std::vector<std::string>& labels, size_t top);

void print_run_text(const std::vector<FrameReport>& frames);
void print_run_json(const std::vector<FrameReport>& frames);

}  // namespace millrace::cli
