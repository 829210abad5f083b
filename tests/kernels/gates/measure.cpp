#include "measure.hpp"

#include "programs.hpp"

namespace sage::gates {

std::string compile_command(const std::string& compiler, const std::filesystem::path& text, std::string_view target,
                            const std::filesystem::path& output) {
  return compiler + " -x hip --offload-arch=" + std::string{target} +
         " --offload-device-only --no-gpu-bundle-output -nogpulib -nogpuinc -std=c++17 -O3 -o '" + output.string() +
         "' '" + text.string() + "'";
}

bool is_measured(const device::Tile& tile, const Machine& machine, Tiles tiles) {
  return tile.family == machine.family && (tile.pv != device::PvType::fp8 || machine.fp8_cycles != 0) &&
         tile.alternative == (tiles == Tiles::alternatives);
}

Measured measure(const std::filesystem::path& text, const Machine& machine, const std::filesystem::path& folder,
                 Tiles tiles) {
  Measured measured;
  const auto output = folder / (std::string{machine.target} + ".hsaco");
  std::string command = compile_command("clang++-19", text, machine.target, output);
  if (tiles == Tiles::alternatives) {
    command += " -DSAGE_ONLY";
    for (const device::Tile& tile : device::alternative_table) {
      if (is_measured(tile, machine, tiles)) command += " -DSAGE_PICK_" + std::string{tile.kernel};
    }
  }
  const test::Outcome compiled = test::run(command);
  if (compiled.status != 0) {
    measured.problem = "the compiler failed:\n" + compiled.output;
    return measured;
  }
  auto object = code_object::read_code_object(test::read_file(output));
  if (!object) {
    measured.problem = object.error().message;
    return measured;
  }
  measured.object = std::move(object).value();
  const test::Outcome listing = test::run("llvm-objdump-19 -d '" + output.string() + "'");
  if (listing.status != 0) {
    measured.problem = "llvm-objdump-19 failed:\n" + listing.output;
    return measured;
  }
  const Functions functions = parse_listing(listing.output);
  for (const code_object::Kernel& kernel : measured.object.kernels) {
    KernelFigures figures;
    figures.name = kernel.metadata.name;
    figures.metadata = kernel.metadata;
    const std::size_t index = device::tile_index(machine.family, figures.name);
    if (index != device::tile_count) figures.tile = &device::tile_at(index);
    if (const auto function = functions.find(figures.name); function != functions.end())
      figures.loop = count(function->second);
    if (figures.tile != nullptr) {
      figures.occupancy = occupancy(machine, *figures.tile, static_cast<int>(kernel.metadata.vgpr_count),
                                    static_cast<int>(kernel.metadata.lds_bytes));
      figures.fraction = modelled_fraction(machine, figures.loop);
    }
    measured.kernels.push_back(std::move(figures));
  }
  measured.ok = true;
  return measured;
}

}  // namespace sage::gates
