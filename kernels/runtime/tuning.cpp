#include "tuning.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "source_digest.hpp"

namespace sage::runtime {
namespace {

using device::PvType;

constexpr std::string_view head = "sage-tuning ";
constexpr std::string_view version = "1";
constexpr std::size_t longest_value = 128;
constexpr std::size_t digest_digits = 64;

// The line without its end; `text` goes on behind it. nullopt: no whole line is left.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool is_plain(std::string_view text) {
  return text.size() <= longest_value && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "<class> <kernel>": every class is known, so the few words that can be meant are compared with.
std::optional<TunedClass> read_choice(std::string_view line) {
  for (std::size_t i = 0; i < device::shape_class_count; ++i) {
    const device::ShapeClass shape = device::class_at(i);
    std::string_view rest = line;
    if (take_prefix(rest, class_text(shape) + " ")) return TunedClass{shape, std::string{rest}};
  }
  return std::nullopt;
}

std::string quoted(std::string_view text) {
  return "\"" + plain_name(text) + "\"";
}

}  // namespace

std::string_view device_text_digest() {
  return source_digest;
}

std::string class_text(const device::ShapeClass& shape) {
  return "d" + std::to_string(shape.dp) + (shape.pv == PvType::fp8 ? " FP8" : " F16") +
         (shape.length == device::Length::long_q ? " LONG" : " SHORT") + (shape.causal ? " causal" : " dense");
}

std::string plain_name(std::string_view name) {
  std::string plain{name.substr(0, longest_value)};
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return plain;
}

std::string tuning_text(const Tuning& tuning) {
  std::string text = std::string{head} + std::string{version} + "\n";
  text += "source " + tuning.source + "\n";
  text += "target " + tuning.target + "\n";
  text += "gpu " + plain_name(tuning.gpu) + "\n";
  for (const TunedClass& one : tuning.choices) text += "choice " + class_text(one.shape) + " " + one.kernel + "\n";
  return text + "end\n";
}

std::string read_tuning_text(std::string_view text, Tuning& tuning) {
  tuning = {};
  if (text.size() > most_tuning_bytes) return "it is longer than " + std::to_string(most_tuning_bytes) + " bytes";
  std::string_view line = next_line(text).value_or("");
  if (!take_prefix(line, head)) return "it does not begin with \"sage-tuning\"";
  if (line != version) return "it has version " + quoted(line) + "; this library reads version 1";
  struct Field {
    std::string_view name;
    std::string* value;
  };
  for (const Field& field : {Field{"source ", &tuning.source}, Field{"target ", &tuning.target}, Field{"gpu ", &tuning.gpu}}) {
    line = next_line(text).value_or("");
    if (!take_prefix(line, field.name)) return "it has no line \"" + std::string{field.name} + "...\" where one belongs";
    if (!is_plain(line)) return "its line \"" + std::string{field.name} + "...\" is no plain text";
    *field.value = line;
  }
  while (true) {
    const auto next = next_line(text);
    if (!next) return "it is cut off: it has no line \"end\"";
    line = *next;
    if (line == "end") break;
    if (!take_prefix(line, "choice ")) return "it has a line that means nothing: " + quoted(line);
    auto choice = read_choice(line);
    if (!choice || !is_plain(choice->kernel)) return "it has a choice that means nothing: " + quoted(line);
    const bool twice = std::any_of(tuning.choices.begin(), tuning.choices.end(),
                                   [&](const TunedClass& one) { return one.shape == choice->shape; });
    if (twice) return "it has two choices for " + class_text(choice->shape);
    tuning.choices.push_back(*std::move(choice));
  }
  return text.empty() ? "" : "it goes on after its end";
}

TuningFile find_tuning(const char* folder) {
  const std::string path = std::string{folder} + "/" + std::string{tuning_file};
  const auto failed = [](int number) { return TuningFile{"", number == ENOENT ? "" : std::strerror(number)}; };
  // Without waiting: it may be anything.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return failed(errno);
  TuningFile found;
  struct stat there {};
  if (fstat(file, &there) != 0 || !S_ISREG(there.st_mode)) {
    found.reason = "it is no regular file";
  } else {
    // One byte more than is allowed, so that what is longer is seen to be.
    found.text.resize(most_tuning_bytes + 1);
    std::size_t size = 0;
    while (size < found.text.size()) {
      const ssize_t got = ::read(file, found.text.data() + size, found.text.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) found.reason = std::strerror(errno);
      if (got <= 0) break;
      size += static_cast<std::size_t>(got);
    }
    found.text.resize(size);
    if (size == 0 && found.reason.empty()) found.reason = "it is empty";
  }
  ::close(file);
  return found;
}

std::string apply_tuning(const Tuning& tuning, device::Family family, std::string_view target, std::string_view gpu,
                         ChosenTiles& chosen) {
  chosen.fill(nullptr);
  if (tuning.source.size() != digest_digits || tuning.source != device_text_digest())
    return "it was made for another version of the kernels";
  if (tuning.target != target) return "it was measured on " + quoted(tuning.target) + ", and this GPU is " + std::string{target};
  if (tuning.gpu != gpu) return "it was measured on " + quoted(tuning.gpu) + ", and this GPU is " + quoted(gpu);
  ChosenTiles all{};
  for (const TunedClass& one : tuning.choices) {
    const std::size_t index = device::tile_index(family, one.kernel);
    if (index == device::tile_count) return "it names a kernel that does not exist for this GPU: " + quoted(one.kernel);
    const device::Tile& tile = device::tile_at(index);
    if (tile.dp != one.shape.dp || tile.pv != one.shape.pv)
      return "it names " + one.kernel + " for " + class_text(one.shape) + ", which that kernel can't compute";
    all[device::class_index(one.shape)] = &tile;
  }
  chosen = all;
  return "";
}

}  // namespace sage::runtime
