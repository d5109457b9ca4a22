// QuantisationReport: what a quantisation has done to a model, and its two forms: a short text for
// a terminal, and a page that is read without a network. Plain data; the writers are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::cli {

// How often values of a layer fell into each of equally wide parts of [low, high].
struct Histogram {
  double low = 0;
  double high = 0;
  std::vector<uint64_t> counts;  // empty: not measured
};

// One layer, measured on the calibration data.
struct LayerRow {
  std::string name;           // of the node
  std::string operator_name;  // "Conv"
  // Of what this layer alone loses, for exact operands: infinite where that is nothing, NaN where
  // it could not be measured.
  double snr_db = 0;
  // Of its output in the quantised program and that in the program as it was: with what the layers
  // before it lose. NaN where a program does not show it.
  double cosine = 1;
  double low = 0;         // the range of the real values that the type can hold
  double high = 0;        // (the calibrated one)
  double scale = 0;       // one step; 0 for a layer that is not quantised
  std::string precision;  // what it computes in: "int8", "bf16", "fp32"
  bool is_kept = false;   // in that precision for the sake of the accuracy
  // The least time of a run; none where it was not measured.
  std::optional<double> ms_before, ms_after;
  Histogram values;  // of the program as it was
};

struct ReportPicture {
  std::string caption;
  std::vector<std::byte> png;  // as DataSet::thumbnail() makes it
};

struct QuantisationReport {
  std::string model;                           // name or path
  std::string precision;                       // of the layers that are not kept in another one
  std::string method;                          // by which ranges were calibrated; may be empty
  size_t samples = 0;                          // that it was calibrated or measured on
  uint64_t bytes_before = 0, bytes_after = 0;  // of the weights
  std::optional<double> ms_before, ms_after;   // the least times of all nodes together
  std::optional<double> ms_without_kept;       // the same with no layer kept; none where none is
  // Of a classifier: samples whose first class is the same in both programs.
  std::optional<size_t> same_top1;
  std::vector<LayerRow> layers;  // in the order of the model
  std::vector<std::string> warnings;
  std::vector<ReportPicture> pictures;
};

// The layers by what they lost: the one that lost most is last. What could not be measured counts
// as lost; equal ones stay in the order of the model.
std::vector<LayerRow> by_loss(std::vector<LayerRow> layers);

// "calibrated by minmax on 8 samples".
std::string samples_text(const QuantisationReport& report);
// "2 of 9 layers: a (fp32), b (bf16); 0.410 ms without that", with the names of the first `most`;
// empty where no layer is kept.
std::string kept_text(const QuantisationReport& report, size_t most);

// Facts, warnings and the `worst` layers that lost most, the worst at the bottom.
std::string quantisation_text(const QuantisationReport& report, size_t worst = 10);

// A whole HTML page with its styles, charts and pictures inside. Names are escaped.
std::string quantisation_html(const QuantisationReport& report);

}  // namespace millrace::cli
