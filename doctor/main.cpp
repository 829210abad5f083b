#include "doctor/cli/commands.hpp"

int main(int argc, char** argv) { return sage::run_command_line(argc, argv); }
