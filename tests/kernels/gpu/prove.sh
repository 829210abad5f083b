#!/usr/bin/env bash
# Everything that is to be shown on a GPU, by one command:
#   prove.sh BUILD/tests/kernels/gpu/test_gpu FOLDER-OF-CODE-OBJECTS
# All suites, then (NVIDIA) memcheck and racecheck of compute-sanitizer on the accuracy suite's every tile and on the tails.
set -uo pipefail
test_gpu=$1
export SAGE_CODE_OBJECTS=$2
status=0

run() {
  printf '== %s\n' "$*"
  "$@" 2>&1 | tail -n 4
  local ended=${PIPESTATUS[0]}
  [ "$ended" -eq 0 ] || { printf 'FAILED with %s\n' "$ended"; status=1; }
}

for suite in accuracy lengths edges gpu; do run "$test_gpu" --test-suite="$suite"; done
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    run compute-sanitizer --tool "$tool" --error-exitcode 1 "$test_gpu" --test-case="every tile*"
  done
fi
exit $status
