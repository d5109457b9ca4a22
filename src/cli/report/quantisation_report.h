// QuantisationReport: the effects of a quantisation on a model (size, time, accuracy by layer), and
// its two forms: a short text for a terminal, and a self-contained HTML page. Plain data; the
// writers are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::cli {

// The number of values of a layer in each of equally wide parts of [low, high].
struct Histogram {
  double low = 0;
  double high = 0;
  std::vector<uint64_t> counts;  // empty: not measured
};

// One layer, measured on the calibration data.
struct LayerRow {
  std::string name;           // name of the node
  std::string operator_name;  // "Conv"
  // SNR in dB if this layer alone has the lower precision (quantise::LayerAccount): infinite if
  // nothing is lost, NaN if it could not be measured.
  double snr_db = 0;
  // Cosine similarity of its result in the quantised and in the original program, with the loss of
  // the layers before it. NaN if a program does not expose the result.
  double cosine = 1;
  double low = 0;    // the range of real values that its result can represent,
  double high = 0;   // chosen by calibration
  double scale = 0;  // of its result; 0 if that is not stored as integers
  // Whether it computes in integers and its result is FP32, as that of the last layers is.
  bool has_float_result = false;
  std::string precision;  // in which it computes: "int8", "bf16", "fp32"
  bool is_kept = false;   // whether it is kept in that precision for the accuracy target
  // The least time of its node in a job; empty if it was not measured.
  std::optional<double> ms_before, ms_after;
  Histogram values;  // values in the original program
};

struct ReportPicture {
  std::string caption;
  std::vector<std::byte> png;  // as DataSet::thumbnail() makes it
};

struct QuantisationReport {
  std::string model;                           // name or path
  std::string precision;                       // of all layers that are not kept in another one
  std::string method;                          // of calibration; empty if ranges were not chosen
  size_t samples = 0;                          // on which it was calibrated or measured
  uint64_t bytes_before = 0, bytes_after = 0;  // sizes of the weights
  std::optional<double> ms_before, ms_after;   // sums of the least times of all nodes
  std::optional<double> ms_without_kept;       // ms_after with no layer kept; empty if none is
  // For a classifier: number of samples whose top-1 class is the same in both programs.
  std::optional<size_t> same_top1;
  std::vector<LayerRow> layers;  // in the order of the model
  std::vector<std::string> warnings;
  std::vector<ReportPicture> pictures;
};

// Sorts the layers by descending SNR, so that the one that lost most is last. Layers that could not
// be measured come after all others; layers with equal SNR stay in the order of the model.
std::vector<LayerRow> by_loss(std::vector<LayerRow> layers);

// Returns a text such as "calibrated by minmax on 8 samples".
std::string samples_text(const QuantisationReport& report);
// Returns a text such as "2 of 9 layers: a (fp32), b (bf16); 0.410 ms without that", with the names
// of the first `most` kept layers; empty if no layer is kept.
std::string kept_text(const QuantisationReport& report, size_t most);

// Returns the scale of the result of a layer, or "fp32 result", or "-" for a layer that is kept.
std::string scale_text(const LayerRow& layer);

// Returns facts, warnings and the `worst` layers that lost most, the worst at the bottom.
std::string quantisation_text(const QuantisationReport& report, size_t worst = 10);

// Returns an HTML page that contains its styles, charts and pictures. Names are escaped.
std::string quantisation_html(const QuantisationReport& report);

}  // namespace millrace::cli
