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
  std::string name;           // name of the node
  std::string operator_name;  // "Conv"
  // SNR of this layer's quantisation alone, with exact operands: infinite if nothing is lost, NaN
  // if it could not be measured.
  double snr_db = 0;
  // Cosine of its outputs in the quantised and in the original program, with the loss of the layers
  // before it. NaN if a program does not expose the output.
  double cosine = 1;
  double low = 0;         // the range of the real values that the type can hold
  double high = 0;        // (the calibrated one)
  double scale = 0;       // one step; 0 for a layer that is not quantised
  std::string precision;  // precision it computes in: "int8", "bf16", "fp32"
  bool is_kept = false;   // in that precision for the sake of the accuracy
  // The least time of a run; none where it was not measured.
  std::optional<double> ms_before, ms_after;
  Histogram values;  // values in the original program
};

struct ReportPicture {
  std::string caption;
  std::vector<std::byte> png;  // as DataSet::thumbnail() makes it
};

struct QuantisationReport {
  std::string model;                           // name or path
  std::string precision;                       // used by all layers that are not kept in another
  std::string method;                          // by which ranges were calibrated; may be empty
  size_t samples = 0;                          // that it was calibrated or measured on
  uint64_t bytes_before = 0, bytes_after = 0;  // sizes of the weights
  std::optional<double> ms_before, ms_after;   // the least times of all nodes together
  std::optional<double> ms_without_kept;       // the same with no layer kept; none where none is
  // For a classifier: samples whose first class is the same in both programs.
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
