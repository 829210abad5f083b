#include "probes/proof_child/python.hpp"

// The program tells what it knows after each step, like the child of a runtime: torch prints what it likes, so a line
// counts only with the mark before it, and the last such line counts.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/host/program.hpp"
#include "probes/proof_child/outcome.hpp"

namespace sage {
namespace {

using Json = nlohmann::json;

constexpr std::string_view mark = "sage-doctor-proof: ";

// Small whole numbers as floats: the product is exact on every device, whatever the order of the additions.
constexpr const char* program = R"PY(import json, os, sys, traceback

answer = {}


def tell(**more):
    answer.update(more)
    os.write(1, ("\nsage-doctor-proof: " + json.dumps(answer) + "\n").encode())


def reason(error):
    return "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1]


def mapped():
    names = ("libamdhip64", "libhsa-runtime64", "libamd_comgr", "libhiprtc", "librocdxg")
    with open("/proc/self/maps", errors="replace") as maps:
        paths = {line.split(None, 5)[5].strip() for line in maps if len(line.split(None, 5)) == 6}
    return sorted(path for path in paths if os.path.basename(path).startswith(names))


step = "import torch"
try:
    import torch

    version = getattr(torch, "version", None)
    tell(imported=True, torch_version=str(torch.__version__), hip=getattr(version, "hip", None) or "", mapped=mapped())
    step = "torch.cuda.device_count()"
    count = torch.cuda.device_count()
    tell(devices=count)
    step = "naming the devices"
    names = []
    for device in range(count):
        target = getattr(torch.cuda.get_device_properties(device), "gcnArchName", "")
        names.append(torch.cuda.get_device_name(device) + (" (" + target + ")" if target else ""))
    tell(device_names=names)
    if count:
        step = "a product on the GPU"
        a = (torch.arange(4096, dtype=torch.float32) % 7).reshape(64, 64)
        on_gpu = (a.to("cuda:0") @ a.to("cuda:0")).cpu()
        tell(kernel_ran=bool(torch.equal(on_gpu, a @ a)))
except BaseException as error:
    tell(stopped=step + ": " + reason(error) if answer else reason(error))
if "imported" in answer:
    try:
        from torch.utils import cpp_extension

        tell(rocm_home=str(cpp_extension.ROCM_HOME or ""))
    except BaseException as error:
        tell(rocm_home_unknown=reason(error))
sys.exit("stopped" in answer)
)PY";

constexpr std::size_t longest_path = 4096;
constexpr std::size_t longest_list = 64;

constexpr const char* not_so_far = "Python did not get that far";

Json last_answer(std::string_view output) {
  Json last = Json::object();
  for (const std::string_view line : lines(output)) {
    if (!line.starts_with(mark)) continue;
    Json answer = Json::parse(line.substr(mark.size()), nullptr, false);
    if (answer.is_object()) last = std::move(answer);
  }
  return last;
}

Fact<std::string> text_in(const Json& answer, const char* key) {
  const auto value = answer.find(key);
  if (value == answer.end() || !value->is_string()) return Fact<std::string>::unknown(not_so_far);
  return value->get<std::string>().substr(0, longest_path);
}

Fact<bool> truth_in(const Json& answer, const char* key) {
  const auto value = answer.find(key);
  if (value == answer.end() || !value->is_boolean()) return Fact<bool>::unknown(not_so_far);
  return value->get<bool>();
}

Fact<std::uint32_t> number_in(const Json& answer, const char* key) {
  const auto value = answer.find(key);
  if (value == answer.end() || !value->is_number_unsigned() || value->get<std::uint64_t>() > longest_list) {
    return Fact<std::uint32_t>::unknown(not_so_far);
  }
  return value->get<std::uint32_t>();
}

Fact<std::vector<std::string>> texts_in(const Json& answer, const char* key) {
  const auto value = answer.find(key);
  if (value == answer.end() || !value->is_array() || value->size() > longest_list) {
    return Fact<std::vector<std::string>>::unknown(not_so_far);
  }
  std::vector<std::string> texts;
  for (const Json& text : *value) {
    if (text.is_string()) texts.push_back(text.get<std::string>().substr(0, longest_path));
  }
  return texts;
}

}  // namespace

PythonProof prove_python(const std::string& executable, std::chrono::seconds deadline) {
  PythonProof proof;
  proof.executable = executable;
  const auto end = run_foreign_program({executable, "-c", program}, deadline);
  const Json answer = end.ok() ? last_answer(end->output) : Json::object();
  proof.imported = answer.value("imported", Json(false)) == Json(true);
  proof.outcome = end.ok() ? outcome_of(*end, deadline) : std::string("could not be started");
  proof.torch_version = text_in(answer, "torch_version");
  proof.hip = text_in(answer, "hip");
  proof.devices = number_in(answer, "devices");
  proof.device_names = texts_in(answer, "device_names");
  proof.kernel_ran = truth_in(answer, "kernel_ran");
  proof.mapped = texts_in(answer, "mapped");
  proof.rocm_home = text_in(answer, "rocm_home");
  if (const auto why = text_in(answer, "rocm_home_unknown"); why.known()) {
    proof.rocm_home = Fact<std::string>::unknown(brief(*why));
  }
  if (proof.devices.is(0)) proof.kernel_ran = Fact<bool>::unknown("no device");
  if (!end.ok()) {
    proof.message = brief(end.error().text);
  } else if (const auto stopped = text_in(answer, "stopped"); stopped.known()) {
    proof.message = brief(*stopped);
  } else {
    proof.message = proof.outcome.is(std::string(outcome_ok)) ? "" : last_line(end->errors);
  }
  return proof;
}

}  // namespace sage
