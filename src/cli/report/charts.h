// Draws the charts of a report as inline SVG, which takes its colours from the page's CSS classes
// bar, poor, bad and limit (page_style.h). Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cli/report/quantisation_report.h"

namespace millrace::cli {

// Layers with a lower SNR are drawn as bad, and those with less than twice this SNR as poor: at 10
// dB the noise has a tenth of the power of the signal, at 20 dB a hundredth.
inline constexpr double kBadSnrDb = 10;

// Returns the CSS class "bad", "poor" or none. An SNR of NaN, which could not be measured, is bad.
std::string snr_class(double snr_db);

// Returns a chart with a bar for each layer, in the given order, whose height is the SNR. Tooltips
// show the layer's name and SNR.
std::string snr_chart(const std::vector<LayerRow>& layers);

// Returns a histogram of a layer's values, with logarithmic counts and lines at the ends of its
// range. Empty if there are no counts or their limits are not finite.
std::string histogram_chart(const LayerRow& layer);

}  // namespace millrace::cli
