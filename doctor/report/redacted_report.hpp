#pragma once

#include "doctor/report/report.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// The report with stand-ins for personal data in every text that can hold some: the facts, the reasons why some are
/// unknown, what the findings say, the source. Ids, titles and names of kinds are our own words and stay. `redaction`
/// is shown all of it first, so that a name has the same stand-in everywhere.
[[nodiscard]] Report redacted(Report report, Redaction redaction);

}  // namespace sage
