"""The prediction of `sage-doctor libs` against glibc itself, for every combination of the loader's rules."""

import glob
import itertools
import os
import platform
import struct
import subprocess
import unittest

import loader_workshop
from binary import main
from loader_workshop import Workshop, differences, libs_json, predicted

TARGET = "libtarget.so.1"


def subsets(items):
    return itertools.chain.from_iterable(itertools.combinations(items, n) for n in range(len(items) + 1))


@unittest.skipUnless(loader_workshop.COMPILER, "no C compiler to build libraries with")
@unittest.skipUnless(platform.libc_ver()[0] == "glibc", "the rules are glibc's")
class Loader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shop = Workshop()
        cls.addClassCleanup(cls.shop.close)

    def compare(self, case, *arguments, **options):
        difference = differences(*arguments, **options)
        if difference:
            self.failures.append(f"{case}: {difference}")
        self.compared += 1

    def setUp(self):
        self.failures = []
        self.compared = 0

    def tearDown(self):
        self.assertGreater(self.compared, 0)
        shown = "\n".join(self.failures[:8])
        self.assertFalse(self.failures, f"{len(self.failures)} of {self.compared} differ:\n{shown}")

    def test_the_search_takes_the_first_place_of_each_rule(self):
        """program -> libmid.so -> libreq.so -> TARGET, which lies in every subset of the places that the rules name:
        M by the program, I by libmid, R and U by libreq's DT_RPATH and DT_RUNPATH, L by LD_LIBRARY_PATH."""
        shop = self.shop
        tags = {"none": {}, "rpath": {"rpath": "$ORIGIN/{}"}, "runpath": {"runpath": "$ORIGIN/{}"}}

        def tagged(tag, place):
            return {name: text.format(place) for name, text in tags[tag].items()}

        target = shop.library(soname=TARGET)
        for own, mid, main, opened in itertools.product(["none", "rpath", "runpath", "both"], tags, tags, [False, True]):
            if own == "both":
                request = shop.library(needed=[TARGET], rpath="$ORIGIN/R", runpath="$ORIGIN/U")
            else:
                request = shop.library(needed=[TARGET], **tagged(own, "R"))
            middle = shop.library(needed=["libreq.so"], **tagged(mid, "I"))
            program = shop.program(needed=[] if opened else ["libmid.so"], **tagged(main, "M"))
            used = ["L"] + [place for place, tag in (("M", main), ("I", mid)) if tag != "none"]
            used += {"none": [], "both": ["R", "U"]}.get(own, ["R"])
            for places in subsets(used):
                files = {"main": program, "libmid.so": middle, "libreq.so": request}
                files.update({f"{place}/{TARGET}": ("copy", target) for place in places})
                root = shop.tree(files)
                self.compare((own, mid, main, opened, places), root / "main",
                             opened=[root / "libmid.so"] if opened else [],
                             variables={"LD_LIBRARY_PATH": f"{root}/L:{root}"})

    def test_a_library_that_opens_another_searches_by_its_own_path(self):
        """program -> libmid.so -> libcaller.so, or the program opens libcaller.so itself; that opens TARGET by its
        plain name, as ctypes and the runtimes do."""
        shop = self.shop
        tags = {"none": {}, "rpath": {"rpath": "$ORIGIN/{}"}, "runpath": {"runpath": "$ORIGIN/{}"}}

        def tagged(tag, place):
            return {name: text.format(place) for name, text in tags[tag].items()}

        target = shop.library(soname=TARGET)
        for own, mid, main in itertools.product(["none", "rpath", "runpath", "both"], [None, *tags], tags):
            caller = shop.calling_library(rpath="$ORIGIN/R", runpath="$ORIGIN/U") if own == "both" else (
                shop.calling_library(**tagged(own, "R")))
            middle = shop.library(needed=["libcaller.so"], **tagged(mid or "none", "I"))
            used = ["L"] + [place for place, tag in (("M", main), ("I", mid)) if tag not in ("none", None)]
            used += {"none": [], "both": ["R", "U"]}.get(own, ["R"])
            for places in subsets(used):
                files = {"main": shop.program(**tagged(main, "M")), "libmid.so": middle, "libcaller.so": caller}
                files.update({f"{place}/{TARGET}": ("copy", target) for place in places})
                root = shop.tree(files)
                self.compare((own, mid, main, places), root / "main",
                             opened=[root / ("libmid.so" if mid else "libcaller.so"), f"@{TARGET}"],
                             variables={"LD_LIBRARY_PATH": f"{root}/L:{root}"})

    def test_an_object_that_is_loaded_already_is_found_again(self):
        """Two consumers ask for one library under two names, in every order; the second file is the first one by a
        hard or symbolic link, a copy, or another library."""
        shop = self.shop
        names = ["libt.so", "libt.so.6"]
        sonames = [None, *names]
        relations = ["hardlink", "symlink", "copy", "other"]
        orders = ["a b", "b a", "linked", "linked, other way round"]
        for first, second, soname, relation, order in itertools.product(names, names, sonames, relations, orders):
            library = shop.library(soname=soname)
            other = {"hardlink": ("hardlink", f"A/{first}"), "symlink": ("symlink", f"../A/{first}"),
                     "copy": ("copy", library), "other": shop.library(soname="libother.so")}[relation]
            a = shop.library(needed=[first], runpath="$ORIGIN/A")
            b = shop.library(needed=[second], runpath="$ORIGIN/B")
            needed = {"linked": ["liba.so", "libb.so"], "linked, other way round": ["libb.so", "liba.so"]}.get(order, [])
            root = shop.tree({"main": shop.program(needed=needed, runpath="$ORIGIN"), "liba.so": a, "libb.so": b,
                              f"A/{first}": ("copy", library), f"B/{second}": other})
            opened = [] if needed else [root / f"lib{name}.so" for name in order.split()]
            self.compare((first, second, soname, relation, order), root / "main", opened=opened)

    def torch_tree(self, family, tag, stem="libamdhip64"):
        """The models of facts about wheels: torch with its own runtime, a system with another, an extension."""
        shop = self.shop
        folder, file_name, soname = {"A": ("T", f"{stem}.so", f"{stem}.so.6"),
                                     "B": ("core", f"{stem}.so.7", f"{stem}.so.7")}[family]
        below = "libhsa-runtime64.so.1" if stem == "libamdhip64" else "libbelow.so.1"
        torch = shop.library(needed=[file_name], **{tag: "$ORIGIN:$ORIGIN/../core"})
        return shop.tree({
            "main": shop.program(),
            "both": shop.program(needed=["libtorch_hip.so", soname], runpath="$ORIGIN/T:$ORIGIN/S"),
            "both-other-way-round": shop.program(needed=[soname, "libtorch_hip.so"], runpath="$ORIGIN/T:$ORIGIN/S"),
            "T/libtorch_hip.so": torch,
            f"{folder}/{file_name}": ("copy", shop.library(soname=soname, needed=[below], rpath="$ORIGIN")),
            f"{folder}/{below}": ("copy", shop.library(soname=below)),
            f"S/{soname}": ("copy", shop.library(soname=soname, needed=[below], runpath="$ORIGIN")),
            f"S/{stem}.so": ("symlink", soname),
            f"S/{below}": ("copy", shop.library(soname=below)),
            "E/ext.so": shop.library(needed=[soname], runpath="$ORIGIN/../S"),
            "E/plain.so": shop.library(needed=[soname]),
        })

    def test_every_order_of_torch_extension_and_bare_names(self):
        # Names of no library that a machine could have by itself.
        for family, tag, library_path, preload in itertools.product(
                "AB", ["rpath", "runpath"], [False, True], [False, True]):
            root = self.torch_tree(family, tag, "libmodel64")
            soname = {"A": "libmodel64.so.6", "B": "libmodel64.so.7"}[family]
            own = {"A": "T/libmodel64.so", "B": "core/libmodel64.so.7"}[family]
            variables = {"LD_LIBRARY_PATH": f"{root}/S" if library_path else None,
                         "LD_PRELOAD": f"{root}/S/{soname}" if preload else None}
            steps = [root / "T/libtorch_hip.so", root / "E/ext.so", root / "E/plain.so", "libmodel64.so", root / own]
            for opened in itertools.permutations(steps, 2 if preload else 3):
                self.compare((family, tag, library_path, preload, opened), root / "main", opened=opened,
                             variables=variables)
            for name in ("both", "both-other-way-round"):
                self.compare((family, tag, library_path, preload, name), root / name, variables=variables)

    def test_the_table_of_known_outcomes(self):
        """facts/wheels.md 2.9, row by row: how many runtimes there are, and where torch's comes from."""
        def outcome(family, tag, opened, **variables):
            root = self.torch_tree(family, tag)
            opened = [root / name if "/" in name else name for name in opened]
            values = {name: str(root / value) for name, value in variables.items()}
            self.compare((family, tag, opened, variables), root / "main", opened=opened, variables=values)
            arguments = ["--program", root / "main", opened[0]]
            for name in opened[1:]:
                arguments += ["--then", name]
            told = libs_json(*arguments, variables=values)
            runtimes = [os.path.relpath(row["path"], root) for row in told["process"]
                        if row["runtime_library"] == "libamdhip64"]
            return [os.path.normpath(path) for path in runtimes]

        torch, extension = "T/libtorch_hip.so", "E/ext.so"
        own = ["T/libamdhip64.so"]
        self.assertEqual(outcome("A", "rpath", [torch, extension]), own)
        self.assertEqual(outcome("A", "rpath", [torch, "E/plain.so"]), own)
        self.assertEqual(outcome("A", "rpath", [extension, torch]), ["S/libamdhip64.so.6", *own])
        self.assertEqual(outcome("A", "rpath", [torch], LD_LIBRARY_PATH="S"), own)
        self.assertEqual(outcome("A", "runpath", [torch], LD_LIBRARY_PATH="S"), ["S/libamdhip64.so"])
        self.assertEqual(outcome("A", "rpath", ["libamdhip64.so", torch], LD_LIBRARY_PATH="S"), ["S/libamdhip64.so"])
        self.assertEqual(outcome("A", "rpath", [torch], LD_PRELOAD="S/libamdhip64.so.6"), ["S/libamdhip64.so.6", *own])
        thin = ["core/libamdhip64.so.7"]
        self.assertEqual(outcome("B", "rpath", [torch], LD_LIBRARY_PATH="S"), thin)
        self.assertEqual(outcome("B", "runpath", [torch], LD_LIBRARY_PATH="S"), ["S/libamdhip64.so.7"])
        self.assertEqual(outcome("B", "runpath", ["core/libamdhip64.so.7", torch], LD_LIBRARY_PATH="S"), thin)
        self.assertEqual(outcome("B", "rpath", [torch, "libamdhip64.so"], LD_LIBRARY_PATH="S"),
                         [*thin, "S/libamdhip64.so"])

    def test_tokens_and_links(self):
        """$ORIGIN is the folder of the path as it was opened; of the program it is the real one."""
        shop = self.shop
        triplet = f"{platform.machine()}-linux-gnu"
        texts = ["$ORIGIN/D", "${ORIGIN}/D", "$ORIGIN/../real/D", "$ORIGINX/D", "{root}/real/$LIB", "{root}/real/${LIB}",
                 "{root}/real/$PLATFORM", "", ":", "$ORIGIN/none:$ORIGIN/D", "{root}/real/D/", "D"]
        ways = ["real/librequest.so", "folder-link/librequest.so", "links/librequest.so"]
        for text, tag, way in itertools.product(texts, ["rpath", "runpath"], ways):
            target = ("copy", shop.library(soname=TARGET))
            root = shop.tree({"main": shop.program(), "folder-link": ("symlink", "real"),
                              "links/librequest.so": ("symlink", "../real/librequest.so"),
                              f"real/D/{TARGET}": target, f"links/D/{TARGET}": target,
                              f"real/lib/{triplet}/{TARGET}": target, f"real/lib64/{TARGET}": target,
                              f"real/{platform.machine()}/{TARGET}": target, f"real/haswell/{TARGET}": target})
            request = shop.library(needed=[TARGET], **{tag: text.replace("{root}", str(root))})
            os.link(request, root / "real/librequest.so")
            self.compare((text, tag, way), root / "main", opened=[root / way], cwd=root / "real")
            self.compare((text, tag, way, "relative"), root / "main", opened=["./" + way], cwd=root)
            program = shop.program(needed=[TARGET], **{tag: text.replace("{root}", str(root))})
            os.link(program, root / "real/program")
            (root / "links/program").symlink_to("../real/program")
            self.compare((text, tag, "program"), root / way.replace("librequest.so", "program"), cwd=root / "real")

    def test_library_path_is_split_and_expanded(self):
        shop = self.shop
        target = shop.library(soname=TARGET)
        for text in ["{0}/A:{0}/B", "{0}/B:{0}/A", "{0}/A;{0}/B", ":{0}/A", "{0}/A:", "{0}/none::{0}/A", "", ":",
                     "$ORIGIN/A", "A", "{0}/A/", "{0}//A", "./A"]:
            for cwd in ("", "A", "B"):
                root = shop.tree({"main": shop.program(needed=[TARGET]), f"A/{TARGET}": ("copy", target),
                                  f"B/{TARGET}": ("copy", target)})
                self.compare((text, cwd), root / "main", variables={"LD_LIBRARY_PATH": text.format(root)},
                             cwd=root / cwd)

    def test_subfolders_for_the_processor(self):
        shop = self.shop
        target = shop.library(soname=TARGET)
        kinds = ["glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v9",
                 "tls", "x86_64", "."]
        for places, rule in itertools.product(subsets(kinds), ["rpath", "runpath", "variable"]):
            tag = {} if rule == "variable" else {rule: "$ORIGIN/D"}
            files = {f"D/{place}/{TARGET}": ("copy", target) for place in places}
            root = shop.tree({"main": shop.program(needed=[TARGET], **tag), **files})
            self.compare((places, rule), root / "main", variables={"LD_LIBRARY_PATH": f"{root}/D"} if not tag else {})

    def test_files_that_do_not_fit(self):
        """What is for another machine is passed over; what is no library ends the search."""
        shop = self.shop
        good = shop.library(soname=TARGET)
        data = good.read_bytes()
        other_machine = bytearray(data)
        struct.pack_into("<H", other_machine, 18, 183)
        narrow = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 3, 3, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0)
        bad = {"other machine": bytes(other_machine), "32 bits": narrow + bytes(4096), "text": b"GROUP ( libx.so )" * 9,
               "cut off": data[:10], "empty": b"", "dangling": ("symlink", "nowhere"), "loop": ("symlink", TARGET),
               "folder": "folder"}
        for name, rule, good_follows, opened in itertools.product(
                bad, ["rpath", "runpath", "variable"], [False, True], [False, True]):
            tag = {} if rule == "variable" else {rule: "$ORIGIN/D:$ORIGIN/G"}
            files = {"main": shop.program(needed=[] if opened else [TARGET], **tag), f"D/{TARGET}": bad[name],
                     "request.so": shop.library(needed=[TARGET], **tag)}
            if good_follows:
                files[f"G/{TARGET}"] = ("copy", good)
            root = shop.tree(files)
            self.compare((name, rule, good_follows, opened), root / "main",
                         opened=[root / "request.so"] if opened else [],
                         variables={} if tag else {"LD_LIBRARY_PATH": f"{root}/D:{root}/G"})
            self.compare((name, "by path"), root / "main", opened=["libm.so.6", root / "D" / TARGET])

    def test_preloaded_libraries(self):
        shop = self.shop
        soname = "libamdhip64.so.7"
        library = shop.library(soname=soname, needed=[TARGET], runpath="$ORIGIN")
        values = ["{0}/P/x.so", "{0}/none.so", "x.so", "libamdhip64.so.7", "{0}/P/x.so:{0}/L/libamdhip64.so.7",
                  "{0}/none.so {0}/P/x.so", "$ORIGIN/P/x.so"]
        for value, with_path, tag in itertools.product(values, [False, True], ["rpath", "runpath"]):
            root = shop.tree({
                "main": shop.program(needed=[soname, TARGET], **{tag: "$ORIGIN/R"}),
                "P/x.so": ("copy", library), f"L/{soname}": ("copy", library), f"R/{soname}": ("copy", library),
                **{f"{place}/{TARGET}": ("copy", shop.library(soname=TARGET)) for place in "PLR"}})
            self.compare((value, with_path, tag), root / "main",
                         variables={"LD_PRELOAD": value.format(root),
                                    "LD_LIBRARY_PATH": f"{root}/L:{root}/P" if with_path else None})

    def test_libraries_of_this_machine(self):
        """Through ld.so.cache and the default folders, with the programs and libraries that are installed."""
        driver = self.shop.program()
        for soname in ["libc.so.6", "libm.so.6", "libz.so.1", "libelf.so.1", "libstdc++.so.6", "libnone.so.9", "libc.so"]:
            self.compare(soname, driver, opened=[soname])
        libraries = sorted(glob.glob(f"/usr/lib/{platform.machine()}-linux-gnu/lib*.so.*"))[::37]
        for path in libraries:
            if "san.so" in path:  # sanitizers refuse to be opened late
                continue
            self.compare(path, driver, opened=[path])
        for program in sorted(glob.glob("/usr/bin/*"))[::23]:
            with open(program, "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            traced = subprocess.run([program], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True)
            files = {os.path.realpath(words[-2]) for words in map(str.split, traced.stdout.splitlines())
                     if len(words) >= 2 and words[-2].startswith("/")}
            if not files:
                continue  # statically linked
            told = predicted(program)
            self.compared += 1
            if told is None or told["files"] - {os.path.realpath(program)} != files:
                self.failures.append(f"{program}: really {files}, predicted {told}")


if __name__ == "__main__":
    main()
