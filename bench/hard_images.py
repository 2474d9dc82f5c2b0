#!/usr/bin/env python3
"""Digits that are hard to tell: each of MNIST's training images shines through another one.

    bench/hard_images.py IMAGES LABELS ROWS SHARE OUT [NOISE]

The first ROWS images and labels, as idx files OUT-images-idx3-ubyte.gz and OUT-labels-idx1-ubyte.gz: each
image times 1 - SHARE, plus SHARE times another image of the file, whose label does not count, plus noise of standard
deviation NOISE, of 255 (20). More rows than there are images begin again, with other ones to shine through. With a
share of 0.2 about half of 10,000 rows become support vectors of 12 kernels (optimum.sh), with 0.45 nine in ten.
"""
import gzip
import struct
import sys

import numpy

SEED = 1
ROWS_AT_A_TIME = 20000


def read(path, header):
    with gzip.open(path) as file:
        data = file.read()
    return numpy.frombuffer(data[header:], dtype=numpy.uint8)


def write(path, header, values):
    with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as file:
        file.write(header + values.tobytes())


def main(images, labels, rows, share, out, noise=20):
    rows, share, noise = int(rows), float(share), float(noise)
    pixels = read(images, 16).reshape(-1, 28 * 28).astype(float)
    random = numpy.random.default_rng(SEED)
    other = random.integers(0, len(pixels), rows)
    own = numpy.arange(rows) % len(pixels)
    mixed = numpy.empty((rows, 28 * 28), numpy.uint8)
    for i in range(0, rows, ROWS_AT_A_TIME):
        part = slice(i, min(i + ROWS_AT_A_TIME, rows))
        values = (1 - share) * pixels[own[part]] + share * pixels[other[part]]
        values += random.normal(0, noise, values.shape)
        mixed[part] = numpy.clip(numpy.rint(values), 0, 255)
    write(f"{out}-images-idx3-ubyte.gz", struct.pack(">4i", 0x803, rows, 28, 28), mixed)
    write(f"{out}-labels-idx1-ubyte.gz", struct.pack(">2i", 0x801, rows), read(labels, 8)[own])


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    main(*sys.argv[1:])
