#include "doctor/build/compile/command.hpp"

#include "probes/host/file_calls.hpp"
#include "probes/host/program.hpp"
#include "probes/proof_child/compile_unit.hpp"

namespace sage {

std::vector<std::string> compile_command(const UnitCommand& what) {
  if (what.kind == CompilerKind::hiprtc || what.kind == CompilerKind::comgr) {
    return compile_unit_command(own_program_path(),
                                {what.kind, what.compiler, what.target, what.unit, what.source, what.output});
  }
  return device_command({what.kind, what.compiler, what.target, unit_definitions(what.unit), true, what.bundle_allowed,
                         what.source, what.output});
}

std::string own_program_path() {
  return file_calls::link_text("/proc/self/exe").value_or(std::string(own_program));
}

}  // namespace sage
