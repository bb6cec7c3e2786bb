"""Makes the MNIST sample that ships with the package: `make_mnist_sample.py DIR` (the full set).

The sample is a fixed number of images of each digit, the first ones in the file, in the file's
order, rounded to 16 levels of grey. Run twice, it writes the same bytes.
"""

import bz2
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "pullback" / "datasets"))
from _mnist import CLASSES, FILES, SAMPLE, SAMPLE_FILES, read_idx

PER_DIGIT = {"train": 600, "t10k": 100}
STEP = 17  # between two levels: 255 / 15


def write_idx(path, values):
    header = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    path.write_bytes(bz2.compress(header + values.tobytes(), 9))
    print(f"{path.name}: {values.shape}, {path.stat().st_size} bytes")


def main(source):
    SAMPLE.mkdir(exist_ok=True)
    for at in (0, 2):
        images_name, labels_name = FILES[at : at + 2]
        images, labels = read_idx(source / images_name), read_idx(source / labels_name)
        count = PER_DIGIT[images_name.split("-")[0]]
        chosen = [np.flatnonzero(labels == digit)[:count] for digit in range(CLASSES)]
        rows = np.sort(np.concatenate(chosen))
        # The largest rounding error is 8 of 255; halves do not occur, since STEP is odd.
        levels = ((images[rows].astype(np.uint16) + STEP // 2) // STEP).astype(np.uint8)
        write_idx(SAMPLE / SAMPLE_FILES[at], levels * np.uint8(STEP))
        write_idx(SAMPLE / SAMPLE_FILES[at + 1], labels[rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
