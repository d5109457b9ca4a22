// The charts of a report, as SVG that stands inside an HTML page and takes its colours from the
// classes of the page's style: bar, poor, bad, limit. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cli/report/quantisation_report.h"

namespace millrace::cli {

// Layers below this much are drawn as bad, and up to twice as much as poor: at 10 dB the noise has
// a tenth of the power of the signal, at 20 dB a hundredth.
inline constexpr double kBadSnrDb = 10;

// "bad", "poor", or empty; what could not be measured is bad.
std::string snr_class(double snr_db);

// A bar for each layer, in the order given, as high as its signal-to-noise ratio; names and numbers
// are shown where the pointer is.
std::string snr_chart(const std::vector<LayerRow>& layers);

// The distribution of a layer's values, by the logarithm of the counts, with lines where its range
// ends. Empty where there are no counts or their limits are no numbers.
std::string histogram_chart(const LayerRow& layer);

}  // namespace millrace::cli
