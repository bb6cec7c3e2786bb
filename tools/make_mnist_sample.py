"""Makes the MNIST sample that ships with the package: `make_mnist_sample.py DIR` (the full set).

The sample is a fixed number of images of each digit, the first ones in the file, in the file's
order. Run twice, it writes the same bytes.
"""

import gzip
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "pullback" / "datasets"))
from _mnist import CLASSES, FILES, SAMPLE, read_idx

PER_DIGIT = {"train": 600, "t10k": 100}


def write_idx(path, values):
    header = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    path.write_bytes(gzip.compress(header + values.tobytes(), compresslevel=9, mtime=0))
    print(f"{path.name}: {values.shape}, {path.stat().st_size} bytes")


def main(source):
    SAMPLE.mkdir(exist_ok=True)
    for images_name, labels_name in (FILES[0:2], FILES[2:4]):
        images, labels = read_idx(source / images_name), read_idx(source / labels_name)
        count = PER_DIGIT[images_name.split("-")[0]]
        chosen = [np.flatnonzero(labels == digit)[:count] for digit in range(CLASSES)]
        rows = np.sort(np.concatenate(chosen))
        write_idx(SAMPLE / images_name, images[rows])
        write_idx(SAMPLE / labels_name, labels[rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
