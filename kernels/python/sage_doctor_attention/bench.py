"""python -m sage_doctor_attention.bench: whole calls of these kernels beside torch's own attention and other packages.

The same normal inputs for all, medians of timed calls after some to warm up, a buffer larger than the caches overwritten before
each call, and the accuracy of the very output beside its speed. Without right numbers there is no speed. The result is JSON of
the form of `sage-doctor bench --json` (docs/bench-schema.json); `sage-doctor bench --from FILE --plot FILE` draws it.
"""

import argparse
import datetime
import itertools
import json
import math
import shutil
import statistics as numbers
import subprocess
import sys
import tempfile
import textwrap

import torch

from . import contenders, contexts, runtime
from .errors import SageAttentionError, UnsupportedError

SCHEMA_VERSION = 2
WARM_UP = 3
BUDGET_MS = 500.0
FEWEST_RUNS, MOST_RUNS = 5, 50
FLUSHED_BYTES = 512 << 20
ROWS_OF_A_HEAD = 24
FORMS = ("plain", "gqa", "varlen")
GROUP = 4  # heads of Q for one of K and V
SHARES = (0.37, 0.27, 0.19, 0.11)  # of all packed tokens; the last sequence has what is left
# Operations of a multiprocessor in a clock, as in kernels/model/peak.cpp. AMD's units are not told by torch in a form to rely on.
RATES = {"sm_80": {"int8": 4096, "f16": 2048}, "sm_90": {"int8": 8192, "f16": 4096, "fp8": 8192}}
FORMULA = "TFLOPS = 4 B H N^2 D / time, half of it for causal"


class Clock:
    """Times calls on the current stream with events, caches cold."""

    def __init__(self, device):
        self.device = device
        free, _ = torch.cuda.mem_get_info(device)
        self.flushed_bytes = min(FLUSHED_BYTES, free // 4)
        self.flush = torch.empty(self.flushed_bytes, dtype=torch.int8, device=device)

    def milliseconds(self, call):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.flush.zero_()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)


def spread(times):
    return {"min": min(times), "median": numbers.median(times), "max": max(times), "runs": len(times)}


def pairs(queries, keys, causal):
    """Of a query and a key that it sees; half of a square for causal, as everybody counts it."""
    square = min(queries, keys)
    return square ** 2 / 2 + (queries - square) * keys if causal else queries * keys


def tflops(shape, milliseconds):
    if shape["lengths"]:
        seen = sum(pairs(length, length, shape["causal"]) for length in shape["lengths"])
    else:
        seen = shape["batch"] * pairs(shape["tokens"], shape["kv_tokens"], shape["causal"])
    return 4 * shape["heads"] * shape["head_dim"] * seen / (milliseconds * 1e-3) * 1e-12


def boundaries(lengths):
    return list(itertools.accumulate(lengths, initial=0))


def sample(shape):
    """(sequence, head, rows) of which the accuracy is taken: some rows of the first, the middle and the last head."""
    sequences = len(shape["lengths"]) or shape["batch"]
    slices = sequences * shape["heads"]
    for number in sorted({0, slices // 2, slices - 1}):
        sequence, head = divmod(number, shape["heads"])
        tokens = shape["lengths"][sequence] if shape["lengths"] else shape["tokens"]
        yield sequence, head, torch.arange(0, tokens, max(1, tokens // ROWS_OF_A_HEAD))


def head_of(tensor, shape, sequence, head):
    """[tokens, D] of a tensor [B, H, N, D], or of packed sequences [tokens of all, H, D]."""
    if not shape["lengths"]:
        return tensor[sequence, head]
    at = boundaries(shape["lengths"])
    return tensor[at[sequence]:at[sequence + 1], head]


def exact_rows(q, k, v, shape):
    """Attention in double precision, of the sampled rows only: [rows, D]."""
    results = []
    for sequence, head, rows in sample(shape):
        rows = rows.to(q.device)
        of_kv = head // (shape["heads"] // shape["kv_heads"])
        keys, values = (head_of(tensor, shape, sequence, of_kv).double() for tensor in (k, v))
        scores = head_of(q, shape, sequence, head)[rows].double() @ keys.T / math.sqrt(shape["head_dim"])
        if shape["causal"]:
            hidden = torch.arange(len(keys), device=q.device)[None, :] > rows[:, None]
            scores = scores.masked_fill(hidden, float("-inf"))
        results.append(torch.softmax(scores, -1) @ values)
    return torch.cat(results)


def sampled(out, shape):
    return torch.cat([head_of(out, shape, sequence, head)[rows.to(out.device)] for sequence, head, rows in sample(shape)])


def accuracy(out, exact, shape, limits, dtype):
    more = contenders.BF16_MORE if dtype == torch.bfloat16 else 0.0
    rows = sampled(out, shape)
    total, rmse, worst = contenders.compare(rows, exact)
    finite = bool(torch.isfinite(rows).all())
    allowed, allowed_row = limits[0] + more, limits[1] + more
    # JSON has no word for what is no number.
    told = {name: value if math.isfinite(value) else None for name, value in (("relative_l1", total), ("rmse", rmse), ("worst_row", worst))}
    return {**told, "allowed_l1": allowed, "allowed_worst_row": allowed_row,
            "rows": exact.shape[0], "passed": finite and total <= allowed and worst <= allowed_row}


def wrong_numbers(found):
    relative_l1, worst_row = (math.nan if found[name] is None else found[name] for name in ("relative_l1", "worst_row"))
    return (f"wrong numbers: relative L1 {relative_l1:.4g} (allowed {found['allowed_l1']:.4g}), worst row "
            f"{worst_row:.4g} (allowed {found['allowed_worst_row']:.4g})")


def row_of(contender, form, shape, dtype, problem=""):
    return {"contender": contender.name, "part": "call", "form": form, "shape": shape, "type": "bf16" if dtype == torch.bfloat16 else "f16",
            "kernel": "", "milliseconds": None, "tflops": None, "peak_share": None, "of_plain": None, "bytes": 0, "copy_ratio": None,
            "accuracy": None, "problem": problem}


def measure(contender, tensors, exact, form, shape, clock, runs, peak):
    """A row of the result; peak: of the contender, in TFLOPS, or None. Raises what the contender raises."""
    q, k, v = tensors
    row = row_of(contender, form, shape, q.dtype)
    at = boundaries(shape["lengths"])

    def call():
        if shape["lengths"]:
            return contender.packed(q, k, v, at, shape["causal"])
        return contender.run(q, k, v, shape["causal"])

    out = call()
    row["accuracy"] = accuracy(out, exact, shape, contender.limits, q.dtype)
    del out
    if not row["accuracy"]["passed"]:
        row["problem"] = wrong_numbers(row["accuracy"])
        return row
    for _ in range(WARM_UP):
        last = clock.milliseconds(call)
    fitting = int(min(MOST_RUNS, max(FEWEST_RUNS, BUDGET_MS / max(last, 1e-3))))
    row["milliseconds"] = spread([clock.milliseconds(call) for _ in range(runs or fitting)])
    row["tflops"] = tflops(shape, row["milliseconds"]["median"])
    row["peak_share"] = row["tflops"] / peak if peak else None
    return row


def short(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def inputs(shape, dtype, device):
    generator = torch.Generator(device).manual_seed(7)

    def numbers(heads, tokens):
        size = (sum(shape["lengths"]), heads) if shape["lengths"] else (shape["batch"], heads, tokens)
        return torch.randn(*size, shape["head_dim"], dtype=torch.float32, device=device, generator=generator).to(dtype)

    return [numbers(shape["heads"], shape["tokens"]), *(numbers(shape["kv_heads"], shape["kv_tokens"]) for _ in range(2))]


def lengths_of(tokens):
    """Of sequences that are `tokens` together, long and short ones."""
    some = [int(tokens * share) for share in SHARES]
    return [length for length in (*some, tokens - sum(some)) if length > 0]


def shapes(options):
    """(form, shape), the plain one of a length first."""
    for head_dim in options.head_dims:
        for mask in options.masks:
            for tokens in options.tokens:
                plain = {"batch": options.batch, "heads": options.heads, "kv_heads": options.heads, "tokens": tokens, "kv_tokens": tokens,
                         "head_dim": head_dim, "causal": mask == "causal", "lengths": []}
                for form in FORMS:
                    if form not in options.shapes or (form == "gqa" and options.heads % GROUP != 0):
                        continue
                    other = {"gqa": {"kv_heads": options.heads // GROUP}, "varlen": {"lengths": lengths_of(options.batch * tokens)}}
                    yield form, {**plain, **other.get(form, {})}


def peak_of(device, products):
    """TFLOPS of attention whose products run at full speed in these types, half of the operations each, or None."""
    rates = next((rates for prefix, rates in RATES.items() if device["target"].startswith(prefix)), {})
    if products is None or not all(rates.get(name) for name in products) or not device["units"] or not device["clock_mhz"]:
        return None
    return 2 / sum(1 / rates[name] for name in products) * device["units"] * device["clock_mhz"] * 1e-6


def run(options, device, facts, clock, found, notes, tell):
    """All rows. A contender that cannot do something is left out there, with a note; ours that fails has a row that says so."""
    rows = []
    noted = set()
    plain = {}  # speeds, by contender and what else a plain shape differs in

    def note(contender, reason):
        if (contender.name, reason) not in noted:
            noted.add((contender.name, reason))
            notes.append(f"{contender.name}: {reason}")

    dtype = torch.bfloat16 if options.type == "bf16" else torch.float16
    for form, shape in shapes(options):
        able = [one for one in found if one.packed or not shape["lengths"]]
        with torch.no_grad():
            try:
                tensors = inputs(shape, dtype, device)
                exact = exact_rows(*tensors, shape)
            except RuntimeError as error:  # such as a shape that does not fit into the memory: the others may
                rows += [row_of(contender, form, shape, dtype, short(error)) for contender in able if contender.ours]
                continue
            for contender in able:
                tell(f"{contender.name}  {shape['tokens']} tokens, head dim {shape['head_dim']}{', causal' if shape['causal'] else ''}"
                     f"{'' if form == 'plain' else ', ' + form}")
                elements = shape["batch"] * shape["heads"] * shape["tokens"] ** 2
                if contender.largest is not None and elements > contender.largest:
                    note(contender, "left out where its score matrix would not fit into an eighth of the memory")
                    continue
                which = (contender.name, shape["head_dim"], shape["causal"], shape["tokens"])
                try:
                    row = measure(contender, tensors, exact, form, shape, clock, options.runs, peak_of(facts, contender.products))
                    if form == "plain":
                        plain[which] = row["tflops"]
                    elif row["tflops"] and plain.get(which):
                        row["of_plain"] = row["tflops"] / plain[which]
                    rows.append(row)
                except UnsupportedError as error:
                    note(contender, short(error))
                except Exception as error:  # noqa: BLE001: a foreign kernel may raise anything
                    if contender.ours:
                        rows.append(row_of(contender, form, shape, dtype, short(error)))
                    else:
                        note(contender, short(error))
            del tensors, exact
    return rows


def device_facts(index):
    properties = torch.cuda.get_device_properties(index)
    try:
        context = contexts.context(index)
        target, runtime_path = context.target, context.runtime_path
    except SageAttentionError:
        target, runtime_path = getattr(properties, "gcnArchName", f"sm_{properties.major}{properties.minor}"), ""
    # HIP counts the compute units of RDNA in pairs: only NVIDIA's number is one of something.
    units = 0 if runtime.HIP else properties.multi_processor_count
    clock = 0 if runtime.HIP else int(getattr(properties, "clock_rate", 0)) // 1000
    return {"name": properties.name, "target": target, "runtime": runtime_path, "driver_version": 0, "units": units,
            "clock_mhz": clock, "copy_gbps": None}


def result(device, clock, rows, notes, now):
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": f"sage_doctor_attention.bench, torch {torch.__version__}",
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "origin": "measured",
        "device": device,
        "method": {"clock": "driver events", "warm_up": WARM_UP, "flushed_bytes": clock.flushed_bytes, "copied_bytes": 0},
        "rows": rows,
        "tuning": None,
        "notes": notes,
    }


def wrapped(text, indent):
    return textwrap.wrap(text, 80, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2), break_long_words=False)


def form_words(row):
    words = {"gqa": f", {row['shape']['kv_heads']} of K and V", "varlen": f", {len(row['shape']['lengths'])} packed sequences"}
    return words.get(row["form"], "")


def table(found):
    """The result for people, in 80 columns."""
    device = found["device"]
    lines = [f"{device['name']} ({device['target']}), {found['tool']}", f"{FORMULA}.", "Medians of whole calls; caches cold."]
    if any(row["form"] != "plain" for row in found["rows"]):
        lines.append("plain: share of the speed on the plain shape.")
    blocks = {}
    for row in found["rows"]:
        shape = row["shape"]
        head = (f"head dim {shape['head_dim']}, {'causal' if shape['causal'] else 'dense'}, {row['type']}, batch {shape['batch']}, "
                f"{shape['heads']} heads{form_words(row)}")
        blocks.setdefault(head, []).append(row)
    for head, rows in blocks.items():
        of = "peak" if rows[0]["form"] == "plain" else "plain"
        lines += ["", head, f"  tokens  what                  ms  (min to max)          TFLOPS{of:>6}   rel. L1"]
        for row in rows:
            start = f"{row['shape']['tokens']:8}  {row['contender']:<16}"
            if row["problem"]:
                lines += [start.rstrip(), *wrapped(f"no speed: {row['problem']}", 12)]
                continue
            time = row["milliseconds"]
            between = f"({time['min']:.3f} to {time['max']:.3f})"
            share = row["peak_share"] if of == "peak" else row["of_plain"]
            percent = "?" if share is None else f"{share * 100:.0f} %"
            lines.append(f"{start}{time['median']:8.3f}  {between:<20}{row['tflops']:8.1f}{percent:>6}{row['accuracy']['relative_l1']:10.4f}")
    lines.append("")
    for note in found["notes"]:
        lines += wrapped(f"note: {note}", 0)
    return "\n".join(lines).rstrip() + "\n"


def plot(found, file):
    """Has sage-doctor draw it, which has the one plot for all benchmarks. Raises SageAttentionError."""
    program = shutil.which("sage-doctor")
    if program is None:
        raise SageAttentionError("sage-doctor is not on PATH, and it draws the plots: keep --json, and give it to "
                                 f"sage-doctor bench --from FILE --plot {file}")
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as text:
        json.dump(found, text)
        text.flush()
        done = subprocess.run([program, "bench", "--from", text.name, "--json", "--plot", file], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 2:
        raise SageAttentionError(done.stderr.strip() or f"{program} did not draw {file}")


def _list(convert, allowed=None):
    def parse(text):
        values = [convert(part) for part in text.split(",")]
        if not values or any(value not in allowed for value in values if allowed) or any(not value for value in values):
            raise argparse.ArgumentTypeError(f"{text!r}: must be {' or '.join(allowed) if allowed else 'positive numbers'}, separated by commas")
        return values

    return parse


def parser():
    usage = argparse.ArgumentParser(prog="python -m sage_doctor_attention.bench", description=__doc__.split("\n", 1)[0])
    usage.add_argument("--batch", type=int, default=4)
    usage.add_argument("--heads", type=int, default=32)
    usage.add_argument("--tokens", type=_list(int), default=[1024, 2048, 4096, 8192, 16384], metavar="N,...")
    usage.add_argument("--head-dims", type=_list(int), default=[64, 128], metavar="D,...")
    usage.add_argument("--masks", type=_list(str, ("dense", "causal")), default=["dense", "causal"], metavar="MASK,...")
    usage.add_argument("--shapes", type=_list(str, FORMS), default=["plain"], metavar="SHAPE,...",
                       help="plain; and, for the share of its speed, gqa (a quarter of the heads of K and V) and varlen (packed sequences)")
    usage.add_argument("--type", choices=("f16", "bf16"), default="f16")
    usage.add_argument("--only", help="contenders whose name contains this", default="")
    usage.add_argument("--runs", type=int, default=0, help="timed calls of each (default: half a second, 5 to 50)")
    usage.add_argument("--json", action="store_true", help="print JSON (docs/bench-schema.json)")
    usage.add_argument("--plot", metavar="FILE", action="append", default=[], help="also have sage-doctor draw FILE.svg or FILE.html")
    return usage


def main(arguments):
    options = parser().parse_args(arguments)
    why = runtime.why_no_gpu()
    if why is not None:
        print(f"sage_doctor_attention.bench: nothing can be measured here: {why}", file=sys.stderr)
        return 1
    device = torch.device("cuda", torch.cuda.current_device())
    notes = []
    _, memory = torch.cuda.mem_get_info(device)
    found = [one for one in contenders.available(memory // 8 // 4, notes) if options.only in one.name]
    terminal = sys.stderr.isatty()

    def tell(text):
        if terminal:
            print(f"\r\033[K{text[:78]}", end="", file=sys.stderr, flush=True)

    clock = Clock(device)
    facts = device_facts(device.index)
    rows = run(options, device, facts, clock, found, notes, tell)
    tell("")
    whole = result(facts, clock, rows, notes, datetime.datetime.now(datetime.timezone.utc))
    print(json.dumps(whole, indent=2) if options.json else table(whole), end="\n" if options.json else "")
    try:
        for file in options.plot:
            plot(whole, file)
    except SageAttentionError as error:
        print(f"sage_doctor_attention.bench: {error}", file=sys.stderr)
        return 1
    return 1 if any(row["problem"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
