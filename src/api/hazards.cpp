#include "millrace/hazards.hpp"

#include <utility>

#include "base/contained.h"
#include "check/check_program.h"

namespace millrace {

Status start_hazard_checker() {
  return contained([] { return check::start_for_program(); });
}

Result<std::vector<HazardFinding>> hazard_findings() {
  return contained([]() -> Result<std::vector<HazardFinding>> {
    std::vector<HazardFinding> findings;
    for (check::ProgramFinding& found : check::findings_of_program())
      findings.push_back({std::string(found.hazard), std::move(found.message),
                          std::string(found.remedy), std::move(found.json), found.occurrences});
    return findings;
  });
}

}  // namespace millrace
