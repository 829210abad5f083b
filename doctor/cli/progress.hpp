#pragma once

#include <string_view>

namespace sage {

/// Whether stderr is a terminal that can take a line away again, and wants to (not with CI or TERM=dumb).
[[nodiscard]] bool progress_on_terminal();

/// Says on stderr what takes so long: with `verbose` a line of the log each time, else, on a terminal, one line that the
/// next one replaces and that is gone in the end, else nothing.
class Progress {
 public:
  explicit Progress(bool verbose);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void tell(std::string_view what);

 private:
  bool verbose_;
  bool terminal_;
};

}  // namespace sage
