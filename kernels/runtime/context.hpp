// A context: the modules of one GPU and its kernels by tile. Immutable once made, so that no call needs a lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/plan.hpp"
#include "driver.hpp"
#include "family.hpp"
#include "objects.hpp"
#include "problem.hpp"
#include "tuning.hpp"

namespace sage::runtime {

class Context {
 public:
  // `path` may be null. `tuning` is what lay beside the objects.
  [[nodiscard]] static Failure make(std::vector<Offered> offered, const TuningFile& tuning, std::uint32_t api,
                                    const char* path, std::unique_ptr<Context>& context);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void describe(sage_context_info& info) const;
  [[nodiscard]] const char* gpu_name() const { return device_.name.c_str(); }
  // What became of the tuning, in words; empty: there was none.
  [[nodiscard]] const char* tuning() const { return tuning_.c_str(); }
  [[nodiscard]] Failure workspace(const sage_attention_problem* problem, std::uint64_t& bytes) const;
  [[nodiscard]] Failure kernel_name(const sage_attention_problem* problem, const char*& name) const;
  [[nodiscard]] Failure launch(const sage_attention_problem* problem, const sage_attention_buffers* buffers,
                               Stream stream) const;

 private:
  struct Choice {
    const device::Tile* tile = nullptr;
    Function function = nullptr;
  };

  Context() = default;
  [[nodiscard]] Failure load(const std::vector<Candidate>& candidates);
  void tune(const TuningFile& file);
  [[nodiscard]] Failure find(const std::vector<Candidate>& candidates, const char* name, std::uint32_t threads,
                             Function& function) const;
  [[nodiscard]] Failure check(const sage_attention_problem* problem, CheckedProblem& checked, Choice& choice) const;

  Driver driver_;
  Device device_;
  FamilySupport support_;
  std::vector<Module> modules_;  // in the order of the candidates
  Function statistics_ = nullptr;
  Function finalise_ = nullptr;
  Function quantise_ = nullptr;
  std::array<Function, device::tile_count> attention_{};  // by tile_at(); null where the objects have no such kernel
  ChosenTiles chosen_{};  // those whose kernels are there
  std::string tuning_;
};

}  // namespace sage::runtime
