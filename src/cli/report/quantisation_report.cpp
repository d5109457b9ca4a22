#include "cli/report/quantisation_report.h"

#include <algorithm>
#include <cmath>

namespace millrace::cli {

std::vector<LayerRow> by_loss(std::vector<LayerRow> layers) {
  std::ranges::stable_sort(layers, [](const LayerRow& a, const LayerRow& b) {
    if (std::isnan(a.snr_db) || std::isnan(b.snr_db))
      return !std::isnan(a.snr_db) && std::isnan(b.snr_db);
    return a.snr_db > b.snr_db;
  });
  return layers;
}

}  // namespace millrace::cli
