"""Batteries of others on the random numbers as the samplers get them, and counts of far normals;
planted mistakes with --broken.

What is tested: 32-bit words made of a chain's numbers, in the order in which a sampler sees them
(lane after lane).
  uniforms   the upper 32 of the 52 bits of each uniform (bits 63..32 of a xoshiro256+ output)
  low        the lower 32 of them (bits 43..12; bits 11..0, the weak ones, are never used)
  normals    Phi(z), first 32 bits
  chains     the upper bits of the uniforms of eight chains, word by word in turn
Batteries: TestU01's SmallCrush, Crush and BigCrush (L'Ecuyer & Simard 2007; Debian, non-free: apt
install libtestu01-0) and dieharder (apt install dieharder).  A p-value near 1 is as bad as one
near 0: what is printed and counted is min(p, 1 - p).
Run: python benchmarks/battery.py --quick
(SmallCrush and a choice of dieharder; without --quick Crush and all of dieharder)
"""

import argparse
import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
from scipy import special, stats

from sgmc.core.random.rng import Rng, seed_sequence

SOURCES = ("uniforms", "low", "normals", "chains")
BROKEN = {
    "lane": "lane 1 repeats lane 0",
    "equal": "all lanes have one seed",
    "clip": "normals cut at 3.5 sd",
    "twice": "every word comes twice",
    "chains": "chains share their stream",
}
CRUSHES = {
    "smallcrush": "bbattery_SmallCrush",
    "crush": "bbattery_Crush",
    "bigcrush": "bbattery_BigCrush",
}
QUICK = [
    *([d] for d in (0, 2, 3, 8, 15, 100, 101, 202, 204, 205, 206, 207, 208, 209)),
    [102, "-n", 16],
    [200, "-n", 3],
    [203, "-n", 7],
]  # dieharder's tests by number
BLOCK = 1 << 17


def stream(seed, index, broken):
    """A chain's stream, with a mistake of its lanes or without."""
    rng = Rng(seed_sequence(seed, "chain", 0 if broken == "chains" else index))
    if broken in ("lane", "equal"):
        state = rng.state()
        for kind in ("normal", "uniform"):
            lanes = state[kind][:32].reshape(4, 8)
            lanes[:, 1 if broken == "lane" else slice(None)] = (
                lanes[:, :1] if broken == "equal" else lanes[:, 0]
            )
        rng.set_state(state)
    return rng


def normals(rng, n, broken):
    """Normals, or clipped ones."""
    z = rng.normals(n)
    return np.clip(z, -3.5, 3.5) if broken == "clip" else z


def words(source, seed, broken):
    """Blocks of 32-bit words without end."""
    rngs = [stream(seed, k, broken) for k in range(8 if source == "chains" else 1)]
    while True:
        if source == "normals":
            made = np.minimum(
                special.ndtr(normals(rngs[0], BLOCK, broken)) * 2.0**32, 2.0**32 - 1
            ).astype(np.uint32)
        else:
            bits = (
                np.array([rng.uniforms(BLOCK // len(rngs)) + 1 for rng in rngs])
                .T.ravel()
                .view(np.uint64)
            )
            # of the 52 bits after the point
            made = (bits if source == "low" else bits >> np.uint64(20)).astype(np.uint32)
        yield np.repeat(made[::2], 2) if broken == "twice" else made


def feed(pipe, blocks):
    """Write words into a pipe until its reader has enough."""
    with contextlib.suppress(BrokenPipeError), pipe:
        for block in blocks:
            pipe.write(block)


def testu01(battery, blocks):
    """(name, p) of each test of a Crush."""
    try:
        for part in ("mylib", "probdist"):
            ctypes.CDLL(f"libtestu01{part}.so.0", ctypes.RTLD_GLOBAL)
        lib = ctypes.CDLL("libtestu01.so.0", ctypes.RTLD_GLOBAL)
    except OSError:
        sys.exit(f"{battery} needs TestU01: apt install libtestu01-0 (Debian, section non-free)")
    read, write = os.pipe()
    writer = threading.Thread(
        target=feed, args=(open(write, "wb"), (block.byteswap() for block in blocks)), daemon=True
    )
    writer.start()
    lib.ufile_CreateReadBin.restype = ctypes.c_void_p
    lib.ufile_CreateReadBin.argtypes = [ctypes.c_char_p, ctypes.c_long]
    # words of four bytes, the first the highest
    generator = lib.ufile_CreateReadBin(f"/dev/fd/{read}".encode(), BLOCK)
    ctypes.c_int.in_dll(lib, "swrite_Basic").value = 0
    getattr(lib, CRUSHES[battery])(ctypes.c_void_p(generator))
    lib.ufile_DeleteReadBin(ctypes.c_void_p(generator))
    os.close(read)
    writer.join()
    n = 300
    names = (ctypes.c_char_p * n).in_dll(lib, "bbattery_TestNames")
    p = (ctypes.c_double * n).in_dll(lib, "bbattery_pVal")
    return [
        (names[k].decode(), p[k]) for k in range(ctypes.c_int.in_dll(lib, "bbattery_NTests").value)
    ]


def dieharder(battery, blocks):
    """(name, p) of each test; dieharder prints eight digits."""
    if not shutil.which("dieharder"):
        sys.exit("dieharder is not installed: apt install dieharder")
    found = []
    for test in (
        [["-d", *map(str, some)] for some in QUICK] if battery == "dieharder-quick" else [["-a"]]
    ):
        shown = [word for name in ("test_name", "ntuple", "pvalues") for word in ("-D", name)]
        running = subprocess.Popen(
            ["dieharder", "-g", "200", *shown, "-c", ",", *test],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        writer = threading.Thread(target=feed, args=(running.stdin, blocks))
        writer.start()
        for line in running.stdout:
            part = line.decode().strip().split(",")
            if len(part) >= 3:
                found.append((f"{part[0].strip()} {part[1].strip()}", float(part[2])))
        writer.join()
    return found


def tails(n, seed, broken):
    """(name, p) of how many of n normals are beyond 4, 5, 6 and 7, against the Poisson law of their
    number.
    """
    rng, limits, count = stream(seed, 0, broken), np.array([4.0, 5, 6, 7]), np.zeros(4, int)
    for _ in range(n // BLOCK):
        far = np.abs(normals(rng, BLOCK, broken))
        far = far[far > limits[0]]
        count += (far[:, None] > limits).sum(axis=0)
    mean = n // BLOCK * BLOCK * 2 * stats.norm.sf(limits)
    both = np.minimum(
        0.5, np.minimum(stats.poisson.cdf(count, mean), stats.poisson.sf(count - 1, mean))
    )
    return [
        (f"beyond {t:g}: {c:,} (expected {m:,.1f})", p)
        for t, c, m, p in zip(limits, count, mean, both)
    ]


def main():
    """Run the batteries asked for and print every p and a closing line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--battery", nargs="+", choices=[*CRUSHES, "dieharder", "dieharder-quick", "tails"]
    )
    parser.add_argument("--source", nargs="+", choices=SOURCES, default=SOURCES)
    parser.add_argument(
        "--broken", choices=BROKEN, help="; ".join(f"{k}: {v}" for k, v in BROKEN.items())
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    chosen = args.battery or (
        ["tails", "smallcrush", "dieharder-quick"]
        if args.quick
        else ["tails", "crush", "dieharder"]
    )
    every, begun = [], time.perf_counter()
    for battery in chosen:
        for source in ["normals"] if battery == "tails" else args.source:
            blocks = words(source, args.seed, args.broken)
            found = (
                tails(10**9 if args.quick else 10**10, args.seed, args.broken)
                if battery == "tails"
                else testu01(battery, blocks)
                if battery in CRUSHES
                else dieharder(battery, blocks)
            )
            for name, p in found:
                print(f"{battery:<16}{source:<10}{name:<56}{min(p, 1 - p):.3g}", flush=True)
            every += [min(p, 1 - p) for _, p in found]
    print(
        f"{len(every)} tests, {sum(p < 1e-6 for p in every)} below 1e-6, smallest p "
        f"{min(every):.2g} ({time.perf_counter() - begun:.0f} "
        f"s{', planted: ' + BROKEN[args.broken] if args.broken else ''})"
    )


if __name__ == "__main__":
    main()
