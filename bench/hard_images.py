#!/usr/bin/env python3
"""Digits that are hard to tell: each of MNIST's training images shines through another one.

    bench/hard_images.py IMAGES LABELS ROWS SHARE OUT

The first ROWS images and labels, as idx files OUT-images-idx3-ubyte.gz and OUT-labels-idx1-ubyte.gz: each
image times 1 - SHARE, plus SHARE times another image of the file, whose label does not count, plus noise. With a
share of 0.2 about half of 10,000 rows become support vectors of 12 kernels (optimum.sh), with 0.45 nine in ten.
"""
import gzip
import struct
import sys

import numpy

SEED = 1
NOISE = 20  # standard deviation, of 255


def read(path, header):
    with gzip.open(path) as file:
        data = file.read()
    return numpy.frombuffer(data[header:], dtype=numpy.uint8)


def write(path, header, values):
    with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as file:
        file.write(header + values.tobytes())


def main(images, labels, rows, share, out):
    rows, share = int(rows), float(share)
    pixels = read(images, 16).reshape(-1, 28 * 28).astype(float)
    random = numpy.random.default_rng(SEED)
    other = random.integers(0, len(pixels), rows)
    mixed = (1 - share) * pixels[:rows] + share * pixels[other] + random.normal(0, NOISE, (rows, 28 * 28))
    mixed = numpy.clip(numpy.rint(mixed), 0, 255).astype(numpy.uint8)
    write(f"{out}-images-idx3-ubyte.gz", struct.pack(">4i", 0x803, rows, 28, 28), mixed)
    write(f"{out}-labels-idx1-ubyte.gz", struct.pack(">2i", 0x801, rows), read(labels, 8)[:rows])


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
