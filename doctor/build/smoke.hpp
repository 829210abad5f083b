#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/build/compile/jobs.hpp"
#include "doctor/build/install/manifest.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// One kernel on one problem, against attention in double precision (kernels/trial/smoke.hpp).
struct SmokeRecord {
  std::string kernel;
  std::string problem;      ///< "dense, 128 queries, 517 keys, head dim 64, f16"
  double relative_l1 = 0;
  double rmse = 0;
  double worst_row = 0;
  double lse_error = 0;
  double allowed_l1 = 0;
  double allowed_worst_row = 0;
  double allowed_lse = 0;
  bool passed = false;
  std::string complaint;    ///< "written outside of out"; empty: none
  std::string first_wrong;  ///< "queries 0 to 127 of head 0"; empty: none
};

/// "sage_attention_d64_F16_LONG gives wrong numbers (gpu gfx1201, dense, ...): relative L1 0.2 (allowed 0.012), ...".
[[nodiscard]] std::string wrong_numbers(const SmokeRecord& record, const std::string& where);

/// What one process of the smoke test did.
struct SmokeRun {
  enum class State { ran, no_gpu, failed };

  State state = State::failed;
  std::string where;    ///< "gpu gfx1201", "emulated gfx12"
  std::string runtime;  ///< the driver library that was used; empty on emulated lanes
  std::string reason;   ///< of no_gpu and failed
  std::vector<SmokeRecord> records;

  [[nodiscard]] bool passed() const;
};

/// What went wrong, a sentence each: a trial that did not run, wrong numbers. Empty: nothing did.
[[nodiscard]] std::vector<std::string> smoke_problems(const std::vector<SmokeRun>& runs);

/// At least one was made, and each passed.
[[nodiscard]] bool all_passed(const std::vector<SmokeRun>& runs);

/// The figures of all trials, as a manifest has them.
[[nodiscard]] std::vector<ManifestAccuracy> accuracy_rows(const std::vector<SmokeRun>& runs);

/// The emulated lanes of these targets' families, each family once. The program carries a few kernels of each. `parallel`
/// processes at a time; `folder`: an existing one for their answers. `tick`: five times a second.
[[nodiscard]] std::vector<SmokeRun> smoke_emulated(const std::vector<std::string>& targets, std::size_t parallel,
                                                   const std::string& folder, const std::function<void()>& tick);

/// Every kernel of `kernels` (a folder of code objects) that is for the first GPU, through `library` (a
/// libsage_attention) and the first of `runtimes` that sees a GPU. In a process of its own: a HIP library may abort.
[[nodiscard]] SmokeRun smoke_on_gpu(const std::string& library, const std::string& kernels,
                                    const std::vector<std::string>& runtimes, const std::string& folder,
                                    const std::function<void()>& tick);

/// The other side: `sage-doctor internal smoke-emulated ...` and `... smoke-gpu ...`. `arguments` are those behind
/// "internal". nullopt: not one of these.
[[nodiscard]] std::optional<int> run_smoke_child(const std::vector<std::string>& arguments);

}  // namespace sage
