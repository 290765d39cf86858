"""Reference workloads of maps, shared by the comparisons with public implementations."""

import json

import numpy as np
import pytest

from explorer import FrequencyMatrix


@pytest.fixture(scope="session")
def load(reference_data, real_data):
    """A reference matrix, its workloads, and the figures of the reference."""
    figures = json.loads(reference_data("peers.json").read_text())["results"]
    kept = {}

    def of(name):
        if name not in kept:
            if name == "checkin":
                counts = np.load(real_data("checkin_256_256.npy"))
            else:
                with np.load(reference_data(f"matrix_{name}.npz")) as file:
                    counts = file[file.files[0]]
            with np.load(reference_data(f"workload_{name}.npz")) as file:
                workload = {key: file[key] for key in file.files}
            kept[name] = FrequencyMatrix.from_array(counts).prepare(), workload, figures[name]
        return kept[name]

    return of
