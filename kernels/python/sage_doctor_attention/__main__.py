"""python -m sage_doctor_attention warmup | self-test [B H N D] | alias | no-alias"""

import sys

from . import SageAttentionError, install_alias, remove_alias, self_test, warmup

_USAGE = """usage: python -m sage_doctor_attention COMMAND
  warmup               loads the kernels and says how long it took
  self-test [B H N D]  compares with torch's attention, on these shapes or on some of its own
  alias                makes `import sageattention` lead here, unless there is a real one
  no-alias             removes that again"""


def _self_test(numbers):
    if not numbers:
        return self_test()
    if len(numbers) != 4 or not all(number.isdigit() for number in numbers):
        print(_USAGE, file=sys.stderr)
        return None
    return self_test([tuple(int(number) for number in numbers)])


def main(arguments):
    command, rest = (arguments[0], arguments[1:]) if arguments else (None, [])
    try:
        if command == "warmup" and not rest:
            warmup(verbose=True)
            return 0
        if command == "self-test":
            good = _self_test(rest)
            return 2 if good is None else 0 if good else 1
        if command == "alias" and not rest:
            print(install_alias())
            return 0
        if command == "no-alias" and not rest:
            print("removed" if remove_alias() else "there was none")
            return 0
    except SageAttentionError as error:
        print(f"sage_doctor_attention: {error}", file=sys.stderr)
        return 1
    print(_USAGE, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
