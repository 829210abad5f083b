#include "probes/libraries.hpp"

namespace sage {

Libraries probe_libraries(const Host&, const ProbeOptions&, const Python&) {
  Libraries facts;
  facts.copies = Fact<std::vector<LibraryCopy>>::unknown("not looked at");
  facts.predictions = Fact<std::vector<LoadPrediction>>::unknown("not looked at");
  facts.processes = Fact<std::vector<MappingProcess>>::unknown("not looked at");
  return facts;
}

}  // namespace sage
